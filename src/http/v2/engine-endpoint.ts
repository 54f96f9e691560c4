import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { EngineRoute } from "../../core/engine-routes.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { AppEnv } from "../app-env.ts";
import type { Docs } from "../document/docs.ts";
import { type Api, endpoint, type Input, type Shape } from "../endpoint.ts";
import { newCommandHeaders } from "../routes/new-command.ts";

/**
 * A route of the engine's own surface: at its path, and behind `/t/{tenant}` for clients that can be given an address
 * only. What its fields have in common is here too.
 */

type Described<P extends z.ZodObject, B extends z.ZodType> = Omit<
  Shape<P, z.ZodObject, B>,
  "method" | "path" | "alsoAt" | "tags" | "query"
>;

export const METHODS = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;

/** As {@link endpoint}, for a row of the table. */
export function engineEndpoint<P extends z.ZodObject = z.ZodObject, B extends z.ZodType = z.ZodUndefined>(
  api: Api,
  route: EngineRoute,
  described: Described<P, B>,
  handle: (c: Context<AppEnv>, input: Input<z.infer<P>, unknown, z.infer<B>>) => Response | Promise<Response>,
): void {
  const { path } = route;
  const at = { method: METHODS[route.method], path, alsoAt: `/t/{tenant}${path}`, tags: ["engine"] };
  const { docs } = described;
  const shape = { ...described, ...at, ...(docs === undefined ? {} : { docs: withRow(docs, route) }) };
  endpoint<P, z.ZodObject, B>(api, shape, handle);
}

/** What the API document says of a route includes what the table says of it. */
export function withRow(docs: Docs, { intent, critical, cost, held }: EngineRoute): Docs {
  const wants = intent === null ? "A read: it waits in no queue" : `Wants \`${intent}\` of the engine`;
  const pays = `costs ${cost === 1 ? "one token" : `${cost} tokens`}`;
  const passes = critical
    ? ", and is never refused for load"
    : held
      ? ", and is held open until there is something to tell"
      : "";
  return { ...docs, description: [docs.description, `${wants}, ${pays}${passes}.`].filter(Boolean).join(" ") };
}

/** Commands of this surface take a caller's own name too. */
export const keyHeader = newCommandHeaders.pick({ "Idempotency-Key": true });

/** How the engine's clients spell the one tenant that there is behind a credential. */
export const DEFAULT_TENANT = "<default>";

/** Clients send null for what they leave out; both are nothing here. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((given) => given ?? undefined);
}

/** A whole number, also as text: some clients write numbers of 64 bits so. */
export function wholeNumber(min: number, max: number) {
  return z
    .union([
      z.number(),
      z
        .string()
        .regex(/^-?\d{1,15}$/)
        .transform(Number),
    ])
    .pipe(z.int().min(min).max(max));
}

/** A key in a path. One that leads nowhere is not found, one that is none is a fault. */
export const keyText = z.string().regex(/^\d{1,25}$/, "must be a key: 1 to 25 decimal digits");

/** A JSON object that is handed on as it came. */
export const variables = z
  .custom<JsonObject>(isJsonObject, "must be a JSON object")
  .openapi({ type: "object", additionalProperties: true });

/** Text that may come from anywhere, such as a stack trace: cut rather than refused, so that it stops no job's end. */
export function cutText(lengthMax: number) {
  return z.string().transform((text) => text.toWellFormed().slice(0, lengthMax).toWellFormed());
}

/** Without the members that are not there: an absent one and an undefined one are not the same to a strict schema. */
export function present(members: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
