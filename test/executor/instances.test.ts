import { describe, expect, it } from "vitest";
import { SWEEP_BYTES_MAX, SWEEP_ROWS_MAX } from "../../src/executor/embedded/ended-instances.ts";
import { VARIABLES_BYTES_MAX } from "../../src/executor/embedded/variables.ts";
import { type Engine, failed, KEEP_MS, T0, UNKNOWN_KEY, withEngine } from "./harness.ts";

describe("cancel", () => {
  it.each(["waiting", "leased", "broken"])("ends an instance whose job is %s, and the job is gone", (condition) =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a", "b"]);
      const processInstanceKey = engine.start("acme", "p");
      const jobKey = engine.keys.format(Number(engine.rows("SELECT seq FROM process_jobs")[0]?.seq));
      if (condition !== "waiting") engine.activateOne("acme", "a");
      const incidentKey = condition === "broken" ? engine.break("acme", jobKey) : UNKNOWN_KEY;

      expect(engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey }, T0 + 7)).toEqual({});
      expect(engine.rows("SELECT state, tokens, ended_at FROM process_instances")).toEqual([
        { state: "terminated", tokens: "[]", ended_at: T0 + 7 },
      ]);
      expect(engine.run("acme", "JOB:COMPLETE", { jobKey })).toEqual(failed("not_found", jobKey));
      expect(engine.run("acme", "INCIDENT:RESOLVE", { jobKey })).toEqual(failed("not_found", jobKey));
      expect(engine.run("acme", "INCIDENT:RESOLVE", { incidentKey })).toEqual(failed("not_found", incidentKey));
      expect(engine.dump()).toMatchObject({ process_jobs: [], process_incidents: [] });
    }),
  );

  it("leaves the other instances of the process alone", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      const processInstanceKey = engine.start("acme", "p");
      const other = engine.start("acme", "p");
      engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey });
      expect(engine.activateOne("acme", "a").processInstanceKey).toBe(other);
    }));

  it.each(["completed", "terminated", "unknown"])("of an instance that is %s is not found", (condition) =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      const started = engine.start("acme", "p");
      if (condition === "completed")
        engine.ok("acme", "JOB:COMPLETE", { jobKey: engine.activateOne("acme", "a").jobKey });
      if (condition === "terminated") engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey: started });
      const processInstanceKey = condition === "unknown" ? UNKNOWN_KEY : started;
      const outcome = engine.run("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey });
      expect(outcome).toEqual(failed("not_found", processInstanceKey));
    }),
  );
});

/** Variables whose JSON takes exactly this many bytes. */
const ofBytes = (bytes: number, member = "v") => ({ [member]: "x".repeat(bytes - `{"${member}":""}`.length) });

describe("variables", () => {
  it("of a completion are merged, the outermost members only", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a", "b"]);
      engine.start("acme", "p", { keep: 1, replace: { old: true }, list: [1, 2] });
      const { jobKey } = engine.activateOne("acme", "a");
      const variables = { replace: { new: true }, list: [], added: null };
      engine.ok("acme", "JOB:COMPLETE", { jobKey, variables });
      const expected = { keep: 1, replace: { new: true }, list: [], added: null };
      expect(engine.activateOne("acme", "b").variables).toEqual(expected);
    }));

  it("named like parts of JavaScript are data and nothing else", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a", "b"]);
      engine.start("acme", "p", JSON.parse('{"__proto__":{"x":1},"constructor":1,"toString":2}'));
      const { jobKey } = engine.activateOne("acme", "a");
      engine.ok("acme", "JOB:COMPLETE", { jobKey, variables: JSON.parse('{"__proto__":{"y":2},"hasOwnProperty":3}') });
      const text = JSON.stringify(engine.activateOne("acme", "b").variables);
      expect(text).toBe('{"__proto__":{"y":2},"constructor":1,"toString":2,"hasOwnProperty":3}');
      expect(Object.hasOwn(Object.prototype, "y")).toBe(false);
    }));

  it("survive as they are: a lone surrogate, a NUL, text that looks like SQL", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      const variables = { "a\ud800": "\udfff", "b\0": "\0", c: "'); DROP TABLE process_jobs; --", d: 1e-7, e: 2 ** 53 };
      engine.start("acme", "p", variables);
      expect(engine.activateOne("acme", "a").variables).toEqual(variables);
    }));

  it.each([
    ["at the limit are accepted", VARIABLES_BYTES_MAX, "succeeded"],
    ["one byte over the limit are refused", VARIABLES_BYTES_MAX + 1, "failed"],
  ])("of a new instance %s", (_label, bytes, state) =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      const outcome = engine.run("acme", "PROCESS_INSTANCE:CREATE", { processId: "p", variables: ofBytes(bytes) });
      expect(outcome.state).toBe(state);
      if (state === "failed") expect(outcome).toEqual(failed("invalid_state", "VARIABLES_BYTES_MAX of 1048576"));
      expect(engine.rows("SELECT seq FROM process_jobs")).toHaveLength(state === "failed" ? 0 : 1);
    }),
  );

  it("that grow over the limit are refused, nothing changes, and less can still be completed", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      engine.start("acme", "p", ofBytes(VARIABLES_BYTES_MAX - 100));
      const { jobKey, processInstanceKey } = engine.activateOne("acme", "a");
      const before = engine.dump();
      const outcome = engine.run("acme", "JOB:COMPLETE", { jobKey, variables: ofBytes(200, "w") });
      expect(outcome).toEqual(failed("invalid_state", processInstanceKey));
      expect(outcome).toEqual(failed("invalid_state", "1048576"));
      expect(engine.dump()).toEqual(before);
      engine.ok("acme", "JOB:COMPLETE", { jobKey, variables: { v: "", w: "x".repeat(1000) } });
    }));

  it("are measured in bytes, not in characters", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      const variables = { v: "€".repeat(VARIABLES_BYTES_MAX / 2) };
      const outcome = engine.run("acme", "PROCESS_INSTANCE:CREATE", { processId: "p", variables });
      expect(outcome).toEqual(failed("invalid_state", "1572"));
    }));

  it("bound an activation together, and only jobs that were handed out are leased", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      const third = Math.floor(VARIABLES_BYTES_MAX / 3);
      const sizes = [third, third, third, third, VARIABLES_BYTES_MAX, 100, 100];
      for (const size of sizes) engine.start("acme", "p", ofBytes(size));
      const rounds: number[] = [];
      for (let jobs = engine.activate("acme", "a", T0, { maxJobs: 100 }); jobs.length > 0; ) {
        rounds.push(jobs.length);
        jobs = engine.activate("acme", "a", T0, { maxJobs: 100 });
      }
      expect(rounds).toEqual([3, 1, 1, 2]);
    }));
});

describe("sweep", () => {
  /** Active instances, and ended ones that ended a millisecond apart. */
  function fill(engine: Engine, active: number, ended: number, variables = {}): void {
    engine.deploy("acme", "p", ["a"]);
    for (let i = 0; i < active; i++) engine.start("acme", "p", {});
    for (let i = 0; i < ended; i++) {
      const processInstanceKey = engine.start("acme", "p", variables);
      engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey }, T0 + i);
    }
  }
  const count = (engine: Engine) => Number(engine.rows("SELECT count(*) AS n FROM process_instances")[0]?.n);

  it("clears what ended longer ago than the time to keep, and nothing else", () =>
    withEngine((engine) => {
      fill(engine, 2, 3);
      expect(engine.executor.sweep(T0 + KEEP_MS)).toBe(false);
      expect(count(engine)).toBe(5);
      expect(engine.executor.sweep(T0 + KEEP_MS + 2)).toBe(false);
      expect(engine.rows("SELECT ended_at FROM process_instances ORDER BY seq")).toEqual([
        { ended_at: null },
        { ended_at: null },
        { ended_at: T0 + 2 },
      ]);
    }));

  it("leaves active instances and their jobs for ever, and every definition", () =>
    withEngine((engine) => {
      fill(engine, 1, 1);
      const muchLater = T0 + 1000 * KEEP_MS;
      engine.executor.sweep(muchLater);
      expect(engine.activate("acme", "a", muchLater)).toHaveLength(1);
      expect(engine.rows("SELECT version FROM process_definitions")).toHaveLength(1);
    }));

  it("with nothing to clear says so", () =>
    withEngine((engine) => {
      expect(engine.executor.sweep(T0)).toBe(false);
    }));

  it("takes a bounded number of rows a call, the oldest first, and says whether there are more", () =>
    withEngine((engine) => {
      fill(engine, 0, 2 * SWEEP_ROWS_MAX + 1);
      const now = T0 + 2 * KEEP_MS;
      expect(engine.executor.sweep(now)).toBe(true);
      expect(count(engine)).toBe(SWEEP_ROWS_MAX + 1);
      expect(engine.rows("SELECT min(ended_at) AS oldest FROM process_instances")).toEqual([
        { oldest: T0 + SWEEP_ROWS_MAX },
      ]);
      expect(engine.executor.sweep(now)).toBe(true);
      expect(engine.executor.sweep(now)).toBe(false);
      expect(count(engine)).toBe(0);
    }));

  it("of exactly one call's rows says that there are no more", () =>
    withEngine((engine) => {
      fill(engine, 0, SWEEP_ROWS_MAX);
      expect(engine.executor.sweep(T0 + 2 * KEEP_MS)).toBe(false);
      expect(count(engine)).toBe(0);
    }));

  it("takes a bounded number of bytes a call", () =>
    withEngine((engine) => {
      fill(engine, 0, 20, ofBytes(VARIABLES_BYTES_MAX));
      expect(engine.executor.sweep(T0 + 2 * KEEP_MS)).toBe(true);
      // Each is a little more on disk than its variables.
      expect(count(engine)).toBe(20 - SWEEP_BYTES_MAX / VARIABLES_BYTES_MAX + 1);
      expect(engine.executor.sweep(T0 + 2 * KEEP_MS)).toBe(false);
    }));
});
