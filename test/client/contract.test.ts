import type { z } from "@hono/zod-openapi";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { Command, EndedCommand, Intents } from "../../src/client/index.ts";
import type { CommandView } from "../../src/core/command.ts";
import type { Intent } from "../../src/core/intents.ts";
import { INTENTS } from "../../src/core/intents.ts";
import type { payloadSchemas } from "../../src/executor/embedded/payloads.ts";

// The client's types against the server's: what drifts apart does not compile. Nothing runs here but the last test.

type Taken<I extends Intent> = z.input<(typeof payloadSchemas)[I]>;
/** True for each intent whose payload the server's schema would take. */
type Fits = { [I in Intent]: Intents[I]["payload"] extends Loose<Taken<I>> ? true : [I, Taken<I>] };
/** What a schema's input type says, for readonly payloads whose absent members may be undefined. */
type Loose<T> = T extends readonly (infer E)[]
  ? readonly Loose<E>[]
  : T extends object
    ? { readonly [M in keyof T]: M extends "variables" ? unknown : Loose<T[M]> | OptionalOf<T, M> }
    : T;
type OptionalOf<T, M extends keyof T> = undefined extends T[M] ? undefined : never;

describe("types", () => {
  test("the client knows the intents of the embedded engine, and no others", () => {
    expectTypeOf<keyof Intents>().toEqualTypeOf<Intent>();
  });

  test("each payload is one that the server takes", () => {
    expectTypeOf<Fits[Intent]>().toEqualTypeOf<true>();
  });

  test("every state of a command is a variant", () => {
    expectTypeOf<Command["state"]>().toEqualTypeOf<CommandView["state"]>();
    expectTypeOf<Command>().toExtend<Omit<CommandView, "result">>();
    expectTypeOf<EndedCommand["state"]>().toEqualTypeOf<Exclude<CommandView["state"], "queued" | "running">>();
  });
});

test("there are nine intents to know", () => {
  expect(INTENTS).toHaveLength(9);
});
