/** Random commands of two tenants, each also with the other's keys; what must hold after every one of them. */

import fc from "fast-check";
import { expect, it } from "vitest";
import type { Intent } from "../../src/core/intents.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import { Engine, freshSchema, KEEP_MS, SECOND, T0, withEngine } from "./harness.ts";

const TENANTS = ["acme", "bolt"] as const;
const PROCESSES = ["p", "q"] as const;
const TYPES = ["a", "b"] as const;

/** Which payload field a key stands in, hence what it is the key of. */
type KeyField = "processInstanceKey" | "jobKey" | "incidentKey";

/** A key is drawn as a number and taken from the newest keys of its kind, whoever's they are and live or not. */
type Draw =
  | { readonly kind: "sweep" }
  | { readonly kind: "command"; readonly intent: Intent; readonly payload: JsonObject; readonly keyField?: KeyField };

const command = (intent: Intent, payload: fc.Arbitrary<JsonObject>, keyField?: KeyField): fc.Arbitrary<Draw> =>
  payload.map((drawn) => ({
    kind: "command",
    intent,
    payload: drawn,
    ...(keyField === undefined ? {} : { keyField }),
  }));

const seconds = fc.constantFrom(0.5, 1, 5, 30);
const optional = { requiredKeys: [] } satisfies { requiredKeys: [] };
const tasks = fc.array(fc.record({ type: fc.constantFrom(...TYPES), retries: fc.constantFrom(1, 2) }), {
  minLength: 1,
  maxLength: 3,
});

const draws: fc.Arbitrary<Draw> = fc.oneof(
  {
    weight: 1,
    arbitrary: command("DEPLOYMENT:CREATE", fc.record({ processId: fc.constantFrom(...PROCESSES), tasks })),
  },
  {
    weight: 4,
    arbitrary: command("PROCESS_INSTANCE:CREATE", fc.record({ processId: fc.constantFrom(...PROCESSES) })),
  },
  { weight: 3, arbitrary: command("PROCESS_INSTANCE:CANCEL", fc.constant({}), "processInstanceKey") },
  {
    weight: 6,
    arbitrary: command(
      "JOB:ACTIVATE",
      fc.record({ type: fc.constantFrom(...TYPES), maxJobs: fc.constantFrom(1, 3), timeoutSeconds: seconds }),
    ),
  },
  {
    weight: 4,
    arbitrary: command("JOB:COMPLETE", fc.record({ variables: fc.dictionary(fc.string(), fc.nat()) }), "jobKey"),
  },
  {
    weight: 3,
    arbitrary: command(
      "JOB:FAIL",
      fc.record({ retries: fc.constantFrom(0, 1, 2), retryBackoffSeconds: seconds }, optional),
      "jobKey",
    ),
  },
  { weight: 1, arbitrary: command("JOB:THROW_ERROR", fc.record({ errorCode: fc.constant("E") }), "jobKey") },
  {
    weight: 2,
    arbitrary: command("JOB:UPDATE", fc.record({ retries: fc.constantFrom(1, 5), timeoutSeconds: seconds }), "jobKey"),
  },
  { weight: 2, arbitrary: command("INCIDENT:RESOLVE", fc.constant({}), "jobKey") },
  { weight: 2, arbitrary: command("INCIDENT:RESOLVE", fc.constant({}), "incidentKey") },
  { weight: 1, arbitrary: fc.constant<Draw>({ kind: "sweep" }) },
);

const steps = fc.array(
  fc.record({
    draw: draws,
    tenant: fc.constantFrom(...TENANTS),
    key: fc.nat({ max: 5 }),
    passesMs: fc.constantFrom(0, 0, 0, 1, 500, SECOND, 10 * SECOND, KEEP_MS),
  }),
  // Long sequences from the first run on: a short one seldom gets past its first incident.
  { minLength: 10, maxLength: 80, size: "max" },
);

/** Runs one step after another and checks, after each, what must hold. */
class Run {
  readonly #engine: Engine;
  readonly #seen: Record<KeyField, string[]> = { processInstanceKey: [], jobKey: [], incidentKey: [] };
  readonly #leasedUntil = new Map<string, number>();
  #places = new Map<number, number>();

  constructor(engine: Engine) {
    this.#engine = engine;
    for (const tenant of TENANTS) engine.deploy(tenant, "p", ["a", "b"], 2);
  }

  step(draw: Draw, tenant: string, key: number, nowMs: number): void {
    if (draw.kind === "sweep") {
      this.#engine.executor.sweep(nowMs);
    } else {
      const { keyField } = draw;
      const payload =
        keyField === undefined ? draw.payload : { ...draw.payload, [keyField]: this.#pick(keyField, key) };
      this.#command(tenant, draw.intent, payload, nowMs);
    }
    this.#checkRows();
  }

  #pick(kind: KeyField, key: number): string {
    const seen = this.#seen[kind];
    return seen.at(-1 - (key % Math.max(1, seen.length))) ?? "1";
  }

  #command(tenant: string, intent: Intent, payload: JsonObject, nowMs: number): void {
    const engine = this.#engine;
    const other = TENANTS.find((name) => name !== tenant);
    const before = [engine.dump(other), engine.dump(tenant)];
    const outcome = engine.run(tenant, intent, payload, nowMs);
    expect(engine.dump(other), "the other tenant's rows are never changed").toEqual(before[0]);
    if (outcome.state === "failed") {
      expect(engine.dump(tenant), "a refused command changes nothing").toEqual(before[1]);
      return;
    }
    const { processInstanceKey, incidentKey } = outcome.result;
    if (typeof processInstanceKey === "string") this.#seen.processInstanceKey.push(processInstanceKey);
    if (typeof incidentKey === "string") this.#seen.incidentKey.push(incidentKey);
    this.#checkPlaces(intent);
    if (intent === "JOB:ACTIVATE") this.#checkActivation(tenant, outcome.result, nowMs);
    const { jobKey, timeoutSeconds } = payload;
    if (typeof jobKey !== "string") return;
    if (intent === "JOB:UPDATE") this.#leasedUntil.set(jobKey, nowMs + Number(timeoutSeconds) * SECOND);
    else this.#leasedUntil.delete(jobKey);
  }

  #checkActivation(tenant: string, result: JsonObject, nowMs: number): void {
    const jobs = Array.isArray(result.jobs) ? result.jobs : [];
    for (const job of jobs) {
      if (!isJsonObject(job)) throw new Error("not a job");
      const { jobKey, deadline } = job;
      if (typeof jobKey !== "string" || typeof deadline !== "string") throw new Error("not a job");
      const until = this.#leasedUntil.get(jobKey) ?? 0;
      expect(until, "a job is never leased twice at the same time").toBeLessThanOrEqual(nowMs);
      const owner = this.#engine.rows("SELECT tenant FROM process_jobs WHERE seq = ?", this.#engine.keys.parse(jobKey));
      expect(owner, "a tenant gets only its own jobs").toEqual([{ tenant }]);
      this.#leasedUntil.set(jobKey, Date.parse(deadline));
      this.#seen.jobKey.push(jobKey);
    }
  }

  #checkRows(): void {
    const engine = this.#engine;
    const atJob = "json_extract(instance.tokens, '$[0].rest.job')";
    const orphans = engine.rows(`SELECT job.seq FROM process_jobs AS job
      LEFT JOIN process_instances AS instance ON ${atJob} = job.seq AND instance.seq = job.instance
      WHERE instance.state IS NOT 'active' OR instance.tenant <> job.tenant`);
    expect(orphans, "a job is the one job of an active instance").toEqual([]);
    const stuck = engine.rows(`SELECT instance.seq FROM process_instances AS instance
      LEFT JOIN process_jobs AS job ON job.seq = ${atJob} WHERE (instance.state = 'active') <> (job.seq IS NOT NULL)`);
    expect(stuck, "an active instance has a job, an ended one has none").toEqual([]);
    const astray = engine.rows(`SELECT incident.seq FROM process_incidents AS incident
      FULL JOIN (SELECT * FROM process_jobs WHERE incident IS NOT NULL) AS job
        ON job.incident = incident.seq AND job.seq = incident.job AND job.tenant = incident.tenant
      WHERE incident.seq IS NULL OR job.seq IS NULL`);
    expect(astray, "jobs and incidents point at each other").toEqual([]);
  }

  /** The place of an active instance in its chain is the number of its task; once completed it only has none. */
  #checkPlaces(intent: Intent): void {
    const places = new Map<number, number>();
    let moved = 0;
    const query = "SELECT seq, state, json_extract(tokens, '$[0].at') AS at FROM process_instances";
    for (const { seq, state, at } of this.#engine.rows(query)) {
      const before = this.#places.get(Number(seq)) ?? 1;
      const place = state === "active" ? Number(String(at).replace("task-", "")) : state === "completed" ? 99 : before;
      expect(place === 99 || place === before || place === before + 1, "one task after the other").toBe(true);
      if (place !== before) moved += 1;
      places.set(Number(seq), place);
    }
    expect(moved, "a completed job takes its instance on, and nothing else does").toBe(
      intent === "JOB:COMPLETE" ? 1 : 0,
    );
    this.#places = places;
  }
}

it("whatever commands come, in whatever order, the engine's rows stay whole and each tenant stays by itself", () =>
  withEngine(({ sql }) => {
    fc.assert(
      fc.property(steps, (sequence) => {
        freshSchema(sql);
        const run = new Run(new Engine(sql));
        let nowMs = T0;
        for (const { draw, tenant, key, passesMs } of sequence) {
          nowMs += passesMs;
          run.step(draw, tenant, key, nowMs);
        }
      }),
      { numRuns: 100 },
    );
  }));
