/** The rules of the token game, on models made by hand. Pure: no storage. */

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { ProcessModel } from "../../src/executor/embedded/bpmn/model.ts";
import {
  type GameEvent,
  type Play,
  STEPS_PER_COMMAND_MAX,
  TOKENS_MAX,
} from "../../src/executor/embedded/game-events.ts";
import { catcherOf } from "../../src/executor/embedded/moves.ts";
import { play } from "../../src/executor/embedded/token-game.ts";
import type { Token } from "../../src/executor/embedded/tokens.ts";
import { SECOND, T0 } from "./harness.ts";
import { boundary, end, errorEnd, mapping, modelOf, parallel, start, task, timer, xor } from "./models.ts";

/** An instance of a model, played event by event. */
class Game {
  tokens: readonly Token[] = [];
  variables: JsonObject;
  effects: Play["effects"] = [];
  readonly #model: ProcessModel;
  #keys = 0;

  constructor(model: ProcessModel, variables: JsonObject = {}) {
    this.#model = model;
    this.variables = variables;
    this.play({ kind: "started" });
  }

  play(event: GameEvent, nowMs = T0): this {
    const position = { tokens: this.tokens, variables: () => this.variables };
    const before = JSON.stringify([this.tokens, this.variables]);
    const played = play(this.#model, position, event, { nowMs, nextKey: () => ++this.#keys });
    expect(JSON.stringify([this.tokens, this.variables]), "what went in is as it was").toBe(before);
    this.tokens = played.tokens;
    this.variables = played.variables ?? this.variables;
    this.effects = played.effects;
    return this;
  }

  complete(at: string, variables: JsonObject = {}, locals: JsonObject = {}): this {
    return this.play({ kind: "job-completed", job: this.jobAt(at), locals, variables });
  }

  jobAt(at: string): number {
    const token = this.tokens.find((one) => one.at === at && one.rest.kind === "job");
    if (token?.rest.kind !== "job") throw new Error(`no job at ${at}`);
    return token.rest.job;
  }

  /** Where tokens are, and what they rest for. */
  get places(): string[] {
    return this.tokens.map(({ at, rest }) => `${at}:${rest.kind}`).sort();
  }

  get incidents(): string[] {
    return this.effects.flatMap((effect) =>
      effect.kind === "incident-opened" ? [`${effect.element} ${effect.type}`] : [],
    );
  }

  /** Resolves the incident of the first token that is stuck. */
  resolve(): this {
    for (const { rest } of this.tokens) {
      if (rest.kind === "stuck") return this.play({ kind: "incident-resolved", incident: rest.incident });
    }
    throw new Error("nothing is stuck");
  }
}

describe("a sequence", () => {
  it("goes from task to task and ends without tokens", () => {
    const game = new Game(modelOf(start("a"), task("a", ["b"]), task("b", ["end"]), end()));
    expect(game.places).toEqual(["a:job"]);
    expect(game.complete("a").places).toEqual(["b:job"]);
    expect(game.complete("b").tokens).toEqual([]);
  });

  it("without anything to wait for ends at once", () => {
    expect(new Game(modelOf(start("end"), end())).tokens).toEqual([]);
  });

  it("ends where no flow leaves", () => {
    expect(new Game(modelOf(start("a"), task("a", []))).complete("a").tokens).toEqual([]);
  });

  it("forks where several flows leave a task", () => {
    const game = new Game(modelOf(start("a"), task("a", ["b", "c"]), task("b", []), task("c", [])));
    expect(game.complete("a").places).toEqual(["b:job", "c:job"]);
  });

  it("gives each visit of an element a key of its own", () => {
    const game = new Game(modelOf(start("a"), task("a", ["again"]), xor("again", [["a", null]])));
    const first = game.tokens[0]?.key;
    expect(game.complete("a").tokens[0]?.key).not.toBe(first);
  });
});

describe("a parallel gateway", () => {
  const forked = modelOf(
    start("fork"),
    parallel("fork", "a", "b"),
    task("a", ["join"]),
    task("b", ["join"]),
    parallel("join", "c"),
    task("c", ["end"]),
    end(),
  );

  it("sends a token down each flow, and joins when one has come by each", () => {
    const game = new Game(forked);
    expect(game.places).toEqual(["a:job", "b:job"]);
    expect(game.complete("b").places).toEqual(["a:job", "join:join"]);
    expect(game.complete("a").places).toEqual(["c:job"]);
    expect(game.complete("c").tokens).toEqual([]);
  });

  it("does not take two tokens of one flow for tokens of both", () => {
    const game = new Game(
      modelOf(
        start("fork"),
        parallel("fork", "a", "b", "c"),
        task("a", ["merge"]),
        task("b", ["merge"]),
        xor("merge", [["join", null]]),
        task("c", ["join"]),
        parallel("join", "end"),
        end(),
      ),
    );
    expect(game.complete("a").complete("b").places).toEqual(["c:job", "join:join", "join:join"]);
    expect(game.complete("c").places).toEqual(["join:join"]);
  });
});

describe("an exclusive gateway", () => {
  const ways = (...conditions: (string | null)[]) =>
    modelOf(
      start("x"),
      xor(
        "x",
        conditions.map((condition, index) => [`t${index}`, condition] as const),
      ),
      ...conditions.map((_condition, index) => task(`t${index}`, [])),
    );

  it.each<[string, (string | null)[], string]>([
    ["the first whose condition holds", ["n > 10", "n > 1", "n > 2"], "t1:job"],
    ["the default when none holds", ["n > 10", null, "n > 9"], "t1:job"],
    ["no default that stands first while a condition holds", [null, "n = 5"], "t1:job"],
    ["its only flow", [null], "t0:job"],
  ])("takes %s", (_label, conditions, place) => {
    expect(new Game(ways(...conditions), { n: 5 }).places).toEqual([place]);
  });

  it.each<[string, string[], string]>([
    ["no condition holds and there is no default", ["n > 10", "n > 20"], "x CONDITION_ERROR"],
    ["a condition is neither true nor false", ["n + 1", "true"], "x EXTRACT_VALUE_ERROR"],
    ["a condition reads what is not there", ["m > 1", "true"], "x EXTRACT_VALUE_ERROR"],
  ])("is stuck when %s, and goes on once that is repaired", (_label, conditions, incident) => {
    const game = new Game(ways(...conditions), { n: 5 });
    expect([game.places, game.incidents]).toEqual([["x:stuck"], [incident]]);
    expect(game.resolve().incidents).toEqual([incident]);
  });

  it("goes on when its incident is resolved and a condition holds by then", () => {
    const game = new Game(ways("n > 10", "n > 20"), { n: 5 });
    game.variables = { n: 15 };
    expect(game.resolve().places).toEqual(["t0:job"]);
  });
});

describe("a service task", () => {
  const one = (more: Parameters<typeof task>[2]) => modelOf(start("a"), task("a", ["b"], more), task("b", []));

  it("evaluates type and retries, which see its own variables", () => {
    const more = {
      jobType: { feel: '"pay-" + kind' },
      retries: { feel: "n + 1" },
      inputs: [mapping("of.kind", "kind")],
    };
    const game = new Game(one(more), { of: { kind: "card" }, n: 4 });
    expect(game.effects).toMatchObject([
      { kind: "job-created", type: "pay-card", retries: 5, locals: '{"kind":"card"}' },
    ]);
    expect(game.variables).toEqual({ of: { kind: "card" }, n: 4 });
  });

  it.each<[string, Parameters<typeof task>[2], string]>([
    ["a type that is no text", { jobType: { feel: "1" } }, "EXTRACT_VALUE_ERROR"],
    ["an empty type", { jobType: { feel: '""' } }, "EXTRACT_VALUE_ERROR"],
    ["no retries", { retries: { feel: "0" } }, "EXTRACT_VALUE_ERROR"],
    ["half a retry", { retries: { feel: "1.5" } }, "EXTRACT_VALUE_ERROR"],
    ["retries that are no number", { retries: { literal: "many" } }, "EXTRACT_VALUE_ERROR"],
    ["too many variables of its own", { inputs: [mapping("big", "own")] }, "IO_MAPPING_ERROR"],
  ])("with %s is stuck, and no job is made", (_label, more, type) => {
    const game = new Game(one(more), { big: "x".repeat(300_000) });
    expect([game.places, game.incidents]).toEqual([["a:stuck"], [`a ${type}`]]);
  });

  it("without output mappings merges all that its worker has made, and nothing of its own", () => {
    const game = new Game(one({ inputs: [mapping("1", "own")] }), { keep: 1, n: 1 });
    expect(game.complete("a", { n: 2, m: 3 }, { own: 1 }).variables).toEqual({ keep: 1, n: 2, m: 3 });
  });

  it("with output mappings merges what they make, also into members, and nothing else", () => {
    const outputs = [mapping("made + own", "order.sum"), mapping("order.sum * 2", "order.deep.twice")];
    const game = new Game(one({ outputs }), { order: { id: 7 } });
    game.complete("a", { made: 1, dropped: true }, { own: 2 });
    expect(game.variables).toEqual({ order: { id: 7, sum: 3, deep: { twice: 6 } } });
  });

  it("whose output mapping cannot be evaluated keeps what it was given, and leaves with it once resolved", () => {
    const outputs = [mapping("if there = 2 then made + there else [1..2]", "sum")];
    const game = new Game(one({ outputs }), { there: 1 });
    game.complete("a", { made: 1 });
    expect([game.places, game.incidents]).toEqual([["a:stuck"], ["a IO_MAPPING_ERROR"]]);
    game.variables = { there: 2 };
    game.resolve();
    expect([game.variables, game.places]).toEqual([{ there: 2, sum: 3 }, ["b:job"]]);
  });
});

describe("errors", () => {
  const caught = modelOf(
    start("a"),
    task("a", ["end"]),
    boundary("all", "a", null, ["b"]),
    boundary("one", "a", "E1", ["c"], [mapping("why", "reason")]),
    task("b", []),
    task("c", []),
    end(),
  );

  it.each([
    ["E1", "one"],
    ["E2", "all"],
    ["e1", "all"],
  ])("%s is caught by the event %s", (code, event) => {
    expect(catcherOf(caught, "a", code)).toBe(event);
  });

  it("without an event for it is caught by none", () => {
    expect(catcherOf(modelOf(start("a"), task("a", []), boundary("x", "a", "E1", [])), "a", "E2")).toBeNull();
  });

  it.each([
    ["all", "b:job", { n: 1, why: "late" }],
    ["one", "c:job", { n: 1, reason: "late" }],
  ])("caught by %s go on from there with the error's variables", (event, place, variables) => {
    const game = new Game(caught, { n: 1 });
    const job = game.jobAt("a");
    game.play({ kind: "error-caught", job, boundary: event, variables: { why: "late" } });
    expect([game.places, game.variables]).toEqual([[place], variables]);
  });

  it("at an end event are stuck there, and again when resolved", () => {
    const game = new Game(modelOf(start("bad"), errorEnd("bad", "E1")));
    expect([game.places, game.incidents]).toEqual([["bad:stuck"], ["bad UNHANDLED_ERROR_EVENT"]]);
    expect(game.resolve().incidents).toEqual(["bad UNHANDLED_ERROR_EVENT"]);
  });
});

describe("timers", () => {
  const waiting = modelOf(
    start("fork"),
    parallel("fork", "short", "long"),
    timer("short", "PT5S", ["a"]),
    timer("long", { feel: "pause" }, ["b"], [mapping("n + 1", "n")]),
    task("a", []),
    task("b", []),
  );

  it.each([
    ["a millisecond before the first", 5 * SECOND - 1, ["long:timer", "short:timer"]],
    ["at the first", 5 * SECOND, ["a:job", "long:timer"]],
    ["long after both", 3600 * SECOND, ["a:job", "b:job"]],
  ])("%s: what is due goes on, the rest waits", (_label, afterMs, places) => {
    const game = new Game(waiting, { pause: "PT1M", n: 1 });
    expect(game.play({ kind: "timers-due" }, T0 + afterMs).places).toEqual(places);
    expect(game.variables.n).toBe(places.includes("b:job") ? 2 : 1);
  });

  it("that lead to timers leave a second between them, however short they are", () => {
    const loop = modelOf(start("tick"), timer("tick", "PT0S", ["tock"]), timer("tock", "PT0S", ["tick"]));
    const game = new Game(loop, {});
    expect(game.play({ kind: "timers-due" }, T0).places).toEqual(["tock:timer"]);
    expect(game.play({ kind: "timers-due" }, T0 + SECOND - 1).places).toEqual(["tock:timer"]);
    expect(game.play({ kind: "timers-due" }, T0 + SECOND).places).toEqual(["tick:timer"]);
  });

  it("without a time that can be read are stuck", () => {
    expect(new Game(waiting, { pause: "soon" }).incidents).toEqual(["long EXTRACT_VALUE_ERROR"]);
  });

  it("whose variables cannot be stored are stuck, and leave when resolved", () => {
    const game = new Game(waiting, { pause: "PT1S", n: 1 });
    game.play({ kind: "timers-refused", message: "too much" }, T0 + SECOND);
    expect([game.places, game.incidents]).toEqual([["long:stuck", "short:timer"], ["long IO_MAPPING_ERROR"]]);
    expect(game.resolve().places).toEqual(["b:job", "short:timer"]);
  });
});

describe("bounds", () => {
  it("cut a loop that waits for nothing, with one incident, and again after each resolution", () => {
    const game = new Game(modelOf(start("x"), xor("x", [["y", null]]), xor("y", [["x", null]])));
    for (let round = 0; round < 3; round++) {
      expect(game.tokens).toHaveLength(1);
      expect(game.effects).toMatchObject([
        { type: "UNKNOWN", message: expect.stringContaining(`${STEPS_PER_COMMAND_MAX}`) },
      ]);
      game.resolve();
    }
  });

  it("cut a loop that makes tokens, all of them with one incident", () => {
    const game = new Game(
      modelOf(start("x"), xor("x", [["fork", null]]), parallel("fork", "x", "y"), xor("y", [["x", null]])),
    );
    const stuck = new Set(game.tokens.map(({ rest }) => (rest.kind === "stuck" ? rest.incident : null)));
    expect([stuck.size, game.effects.length, stuck.has(null)]).toEqual([1, 1, false]);
    expect(game.tokens.length).toBeGreaterThan(10);
    for (let round = 0; round < 5; round++) game.resolve();
    expect(game.tokens.length).toBeLessThanOrEqual(TOKENS_MAX);
  });
});
