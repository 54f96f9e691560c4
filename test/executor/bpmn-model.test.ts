/** Random commands and times on instances of a model with everything in it; what must hold after every one of them. */

import fc from "fast-check";
import { expect, it } from "vitest";
import type { Intent } from "../../src/core/intents.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { decodeTokens, firstDueMs, incidentsOf, jobsOf } from "../../src/executor/embedded/tokens.ts";
import { Engine, freshSchema, KEEP_MS, SECOND, T0, withEngine } from "./harness.ts";
import { boundary, end, errorEnd, install, mapping, modelOf, parallel, start, task, timer, xor } from "./models.ts";

const TYPES = ["a", "b", "c", "d"] as const;

/** Two branches that loop by a variable, wait for a time, catch one error and end in another. */
const MODEL = modelOf(
  start("fork"),
  parallel("fork", "a", "pause"),
  task("a", ["way"], { outputs: [mapping("n", "n"), mapping("if bad then [1..2] else n", "m")] }),
  boundary("caught", "a", "E", ["b"]),
  xor("way", [
    ["merge", "n > 2"],
    ["a", "n = 2"],
    ["bad", "n = 1"],
  ]),
  errorEnd("bad", "X"),
  timer("pause", { feel: 'if n = null then "PT5S" else "PT1S"' }, ["c"]),
  task("b", ["merge"], { inputs: [mapping("n", "own")] }),
  task("c", ["again"]),
  xor("again", [
    ["pause", "n = 2"],
    ["join", null],
  ]),
  xor("merge", [["join", null]]),
  parallel("join", "d"),
  task("d", ["end"]),
  end(),
);

const tenants = fc.constantFrom("acme", "bolt");
const jobIntents = fc.constantFrom<[Intent, JsonObject]>(
  ["JOB:COMPLETE", { variables: { n: 1 } }],
  ["JOB:COMPLETE", { variables: { n: 2 } }],
  ["JOB:COMPLETE", { variables: { n: 3 } }],
  ["JOB:COMPLETE", { variables: { n: 3, bad: true } }],
  ["JOB:COMPLETE", {}],
  ["JOB:FAIL", { retries: 0 }],
  ["JOB:FAIL", { retryBackoffSeconds: 1, variables: { own: 1 } }],
  ["JOB:THROW_ERROR", { errorCode: "E", variables: { n: 3 } }],
  ["JOB:THROW_ERROR", { errorCode: "F" }],
  ["INCIDENT:RESOLVE", {}],
);

type Draw = CommandDraw | { readonly kind: "fire" } | { readonly kind: "sweep" };
type CommandDraw =
  | { readonly kind: "create" | "cancel" | "resolve"; readonly pick: number }
  | { readonly kind: "activate"; readonly type: string; readonly details: boolean }
  | { readonly kind: "job"; readonly command: [Intent, JsonObject]; readonly pick: number };

const pick = fc.nat({ max: 9 });
const draws: fc.Arbitrary<Draw> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("create" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), pick }) },
  { weight: 1, arbitrary: fc.constant<Draw>({ kind: "sweep" }) },
  { weight: 2, arbitrary: fc.constant<Draw>({ kind: "fire" }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("resolve" as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("activate" as const),
      type: fc.constantFrom(...TYPES),
      details: fc.boolean(),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("job" as const), command: jobIntents, pick }) },
);
const steps = fc.array(
  fc.record({ draw: draws, tenant: tenants, passesMs: fc.constantFrom(0, 0, 1, SECOND, 5 * SECOND) }),
  {
    minLength: 20,
    maxLength: 80,
    size: "max",
  },
);

/** The key of some row, whoever's it is. */
function someKey(engine: Engine, table: string, nth: number): string {
  const rows = engine.rows(`SELECT seq FROM ${table} ORDER BY seq DESC LIMIT 10`);
  const row = rows[nth % Math.max(1, rows.length)];
  return row === undefined ? "1" : engine.keys.format(Number(row.seq));
}

function commandOf(engine: Engine, draw: CommandDraw): [Intent, JsonObject] {
  switch (draw.kind) {
    case "create":
      return ["PROCESS_INSTANCE:CREATE", { processId: "p", ...(draw.pick > 6 ? { businessId: "b" } : {}) }];
    case "cancel":
      return ["PROCESS_INSTANCE:CANCEL", { processInstanceKey: someKey(engine, "process_instances", draw.pick) }];
    case "resolve":
      return ["INCIDENT:RESOLVE", { incidentKey: someKey(engine, "process_incidents", draw.pick) }];
    case "activate":
      return ["JOB:ACTIVATE", { type: draw.type, maxJobs: 2, timeoutSeconds: 3, details: draw.details }];
    case "job":
      return [draw.command[0], { ...draw.command[1], jobKey: someKey(engine, "process_jobs", draw.pick) }];
    default:
      return draw satisfies never;
  }
}

function checkRows(engine: Engine): void {
  const numbers = (query: string, ...bindings: number[]) =>
    engine.rows(query, ...bindings).map(({ seq }) => Number(seq));
  const incidents: number[] = [];
  const jobs: number[] = [];
  for (const row of engine.rows("SELECT seq, state, tokens, due_at FROM process_instances")) {
    const tokens = decodeTokens(String(row.tokens));
    expect(tokens.length > 0, "an active instance has a token, an ended one has none").toBe(row.state === "active");
    expect(row.due_at, "its next timer is the first of its tokens'").toBe(firstDueMs(tokens));
    const keys = tokens.map(({ key }) => key);
    expect(new Set(keys).size, "each element instance has a key of its own").toBe(keys.length);
    const open = "SELECT seq FROM process_jobs WHERE instance = ? AND done_until IS NULL ORDER BY seq";
    expect(numbers(open, Number(row.seq)), "its jobs are those that its tokens wait for").toEqual(
      jobsOf(tokens).sort((a, b) => a - b),
    );
    jobs.push(...jobsOf(tokens));
    incidents.push(...incidentsOf(tokens));
  }
  expect(numbers("SELECT seq FROM process_jobs WHERE done_until IS NULL ORDER BY seq")).toEqual(
    jobs.sort((a, b) => a - b),
  );
  expect(
    numbers("SELECT seq FROM process_incidents WHERE job IS NULL ORDER BY seq"),
    "an incident without a job is a token's",
  ).toEqual(incidents.sort((a, b) => a - b));
  expect(
    numbers("SELECT seq FROM process_incidents WHERE job IS NOT NULL ORDER BY seq"),
    "and one with a job is that job's",
  ).toEqual(numbers("SELECT incident AS seq FROM process_jobs WHERE incident IS NOT NULL ORDER BY 1"));
}

it(
  "whatever comes, tokens, jobs, timers and incidents of each instance agree, and each tenant stays by itself",
  () =>
    withEngine(({ sql }) => {
      fc.assert(
        fc.property(steps, (sequence) => {
          freshSchema(sql);
          const engine = new Engine(sql);
          for (const tenant of ["acme", "bolt"]) install(engine, tenant, MODEL);
          let nowMs = T0;
          for (const { draw, tenant, passesMs } of sequence) {
            nowMs += passesMs;
            if (draw.kind === "fire") engine.fire(nowMs);
            else if (draw.kind === "sweep") engine.executor.sweep(nowMs + KEEP_MS);
            else {
              const [intent, payload] = commandOf(engine, draw);
              const other = tenant === "acme" ? "bolt" : "acme";
              const before = [engine.dump(other), engine.dump(tenant)];
              const outcome = engine.run(tenant, intent, payload, nowMs);
              expect(engine.dump(other), "the other tenant's rows are never changed").toEqual(before[0]);
              if (outcome.state === "failed")
                expect(engine.dump(tenant), "a failed one changes nothing").toEqual(before[1]);
            }
            checkRows(engine);
          }
        }),
        { numRuns: 60 },
      );
    }),
  60_000,
);
