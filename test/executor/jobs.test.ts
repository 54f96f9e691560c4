import { describe, expect, it } from "vitest";
import { failed, SECOND, T0, UNKNOWN_KEY, withEngine } from "./harness.ts";

describe("activation", () => {
  it("hands out a job with all that a worker needs", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["pay"], 5);
      const processInstanceKey = engine.start("acme", "p", { sum: 1 });
      expect(engine.activate("acme", "pay", T0, { timeoutSeconds: 1.5 })).toEqual([
        {
          jobKey: expect.stringMatching(/^\d{16}$/),
          type: "pay",
          processInstanceKey,
          retries: 5,
          deadline: new Date(T0 + 1500).toISOString(),
          variables: { sum: 1 },
        },
      ]);
    }));

  it("with nothing to hand out succeeds with no jobs", () =>
    withEngine((engine) => {
      expect(engine.run("acme", "JOB:ACTIVATE", { type: "pay" })).toEqual({ state: "succeeded", result: { jobs: [] } });
    }));

  it("hands out the oldest first, as many as asked for, and none twice", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["pay"]);
      const started = [3, 1, 2, 2].map((second) => engine.start("acme", "p", { second }, T0 + second * SECOND));
      const now = T0 + 10 * SECOND;
      const first = engine.activate("acme", "pay", now, { maxJobs: 3 }).map((job) => job.processInstanceKey);
      const rest = engine.activate("acme", "pay", now, { maxJobs: 3 }).map((job) => job.processInstanceKey);
      expect([first, rest]).toEqual([[started[1], started[2], started[3]], [started[0]]]);
    }));

  it("hands out only its own type", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["pay"]);
      engine.start("acme", "p");
      expect(engine.activate("acme", "ship")).toEqual([]);
      expect(engine.activate("acme", "Pay")).toEqual([]);
    }));

  it.each([
    ["one millisecond before its deadline", 9999, 0],
    ["at its deadline", 10_000, 1],
  ])("%s a leased job is handed out again %#", (_label, afterMs, jobs) =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["pay"]);
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "pay", T0, { timeoutSeconds: 10 });
      const again = engine.activate("acme", "pay", T0 + afterMs);
      expect(again.map((job) => job.jobKey)).toEqual(jobs === 1 ? [jobKey] : []);
    }),
  );

  it("a lease that ran out costs no retry and sorts by its deadline", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["pay"]);
      engine.start("acme", "p", { n: 1 });
      engine.activateOne("acme", "pay", T0, { timeoutSeconds: 10 });
      engine.start("acme", "p", { n: 2 }, T0 + 5 * SECOND);
      engine.start("acme", "p", { n: 3 }, T0 + 15 * SECOND);
      const jobs = engine.activate("acme", "pay", T0 + 20 * SECOND, { maxJobs: 10 });
      expect(jobs.map((job) => [job.variables.n, job.retries])).toEqual([
        [2, 3],
        [1, 3],
        [3, 3],
      ]);
    }));

  it("the shortest lease is still a lease", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["pay"]);
      engine.start("acme", "p");
      engine.activateOne("acme", "pay", T0, { timeoutSeconds: 0.0001 });
      expect(engine.activate("acme", "pay", T0)).toHaveLength(0);
      expect(engine.activate("acme", "pay", T0 + 1)).toHaveLength(1);
    }));
});

describe("completion", () => {
  it("goes from task to task and ends the instance behind the last", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a", "b", "c"]);
      engine.start("acme", "p");
      for (const type of ["a", "b", "c"]) {
        expect(engine.rows("SELECT state FROM process_instances")).toEqual([{ state: "active" }]);
        const { jobKey } = engine.activateOne("acme", type, T0 + 5);
        expect(engine.ok("acme", "JOB:COMPLETE", { jobKey }, T0 + 5)).toEqual({});
      }
      expect(engine.rows("SELECT state, tokens, ended_at FROM process_instances")).toEqual([
        { state: "completed", tokens: "[]", ended_at: T0 + 5 },
      ]);
      expect(engine.rows("SELECT * FROM process_jobs")).toEqual([]);
    }));

  it("gives the next task its own retries, available at once", () =>
    withEngine((engine) => {
      const tasks = [{ type: "a" }, { type: "b", retries: 7 }];
      engine.ok("acme", "DEPLOYMENT:CREATE", { processId: "p", tasks });
      engine.start("acme", "p");
      engine.ok("acme", "JOB:COMPLETE", { jobKey: engine.activateOne("acme", "a").jobKey }, T0 + 9);
      expect(engine.activate("acme", "b", T0 + 8)).toHaveLength(0);
      expect(engine.activateOne("acme", "b", T0 + 9).retries).toBe(7);
    }));

  it("of a completed job is not found", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a", "b"]);
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "a");
      engine.ok("acme", "JOB:COMPLETE", { jobKey });
      expect(engine.run("acme", "JOB:COMPLETE", { jobKey })).toEqual(failed("not_found", jobKey));
    }));

  it.each([
    ["while it is leased", T0],
    ["after its lease ran out", T0 + 3600 * SECOND],
  ])("of a job %s is accepted", (_label, nowMs) =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "a", T0);
      expect(engine.ok("acme", "JOB:COMPLETE", { jobKey }, nowMs)).toEqual({});
    }),
  );

  it("of a job that was never handed out, or waits for its backoff, is accepted", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a", "b"]);
      engine.start("acme", "p");
      const [row] = engine.rows("SELECT seq FROM process_jobs");
      engine.ok("acme", "JOB:COMPLETE", { jobKey: engine.keys.format(Number(row?.seq)) });
      const { jobKey } = engine.activateOne("acme", "b");
      engine.ok("acme", "JOB:FAIL", { jobKey, retryBackoffSeconds: 60 });
      expect(engine.ok("acme", "JOB:COMPLETE", { jobKey })).toEqual({});
    }));
});

describe("failure", () => {
  it.each([
    ["one millisecond before its backoff ends, the job is not available", 2499, 0],
    ["at the end of its backoff, the job is available", 2500, 1],
  ])("%s", (_label, afterMs, jobs) =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "a", T0);
      expect(engine.ok("acme", "JOB:FAIL", { jobKey, retryBackoffSeconds: 2.5 })).toEqual({});
      expect(engine.activate("acme", "a", T0 + afterMs)).toHaveLength(jobs);
    }),
  );

  it("without a backoff gives the job back at once, whatever was left of its lease", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "a", T0, { timeoutSeconds: 600 });
      engine.ok("acme", "JOB:FAIL", { jobKey }, T0 + 1);
      expect(engine.activateOne("acme", "a", T0 + 1).jobKey).toBe(jobKey);
    }));

  it.each([
    ["one less than before", {}, 2],
    ["what the worker says", { retries: 9 }, 9],
  ])("leaves the job with %s", (_label, payload, retries) =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"], 3);
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "a");
      engine.ok("acme", "JOB:FAIL", { jobKey, ...payload });
      expect(engine.activateOne("acme", "a").retries).toBe(retries);
    }),
  );
});

describe("update", () => {
  it.each([
    ["retries", { retries: 8 }, [8, 10]],
    ["the deadline, counted from now", { timeoutSeconds: 30 }, [3, 35]],
    ["both", { retries: 8, timeoutSeconds: 1 }, [8, 6]],
  ])("changes %s", (_label, payload, [retries, deadlineSeconds]) =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "a", T0, { timeoutSeconds: 10 });
      expect(engine.ok("acme", "JOB:UPDATE", { jobKey, ...payload }, T0 + 5 * SECOND)).toEqual({});
      const deadline = T0 + Number(deadlineSeconds) * SECOND;
      expect(engine.activate("acme", "a", deadline - 1)).toHaveLength(0);
      expect(engine.activateOne("acme", "a", deadline).retries).toBe(retries);
    }),
  );

  it.each([
    ["never handed out", 0],
    ["whose lease ran out", 1],
    ["that waits for its backoff", 2],
    ["with an incident", 3],
  ])("of the deadline of a job %s is refused, and nothing is half done", (_label, kind) =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      engine.start("acme", "p");
      const jobKey = engine.keys.format(Number(engine.rows("SELECT seq FROM process_jobs")[0]?.seq));
      if (kind > 0) engine.activateOne("acme", "a", T0, { timeoutSeconds: 10 });
      if (kind === 2) engine.ok("acme", "JOB:FAIL", { jobKey, retryBackoffSeconds: 600 });
      if (kind === 3) engine.break("acme", jobKey);
      const before = engine.dump();
      const update = { jobKey, retries: 9, timeoutSeconds: 5 };
      expect(engine.run("acme", "JOB:UPDATE", update, T0 + 10 * SECOND)).toEqual(failed("invalid_state", jobKey));
      expect(engine.dump()).toEqual(before);
    }),
  );

  it("of retries alone is open to every job, and hands out nothing", () =>
    withEngine((engine) => {
      engine.deploy("acme", "p", ["a"]);
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "a");
      engine.break("acme", jobKey);
      engine.ok("acme", "JOB:UPDATE", { jobKey, retries: 4 });
      expect(engine.activate("acme", "a", T0 + 3600 * SECOND)).toEqual([]);
      engine.ok("acme", "INCIDENT:RESOLVE", { jobKey });
      expect(engine.activateOne("acme", "a").retries).toBe(4);
    }));
});

it.each([
  ["JOB:COMPLETE", {}],
  ["JOB:FAIL", {}],
  ["JOB:THROW_ERROR", { errorCode: "E" }],
  ["JOB:UPDATE", { retries: 1 }],
  ["INCIDENT:RESOLVE", {}],
] as const)("%s of an unknown, foreign or impossible key is not found and names it", (intent, payload) =>
  withEngine((engine) => {
    for (const jobKey of [UNKNOWN_KEY, `2${UNKNOWN_KEY.slice(1)}`, "0", "9".repeat(25)]) {
      expect(engine.run("acme", intent, { jobKey, ...payload })).toEqual(failed("not_found", jobKey));
    }
  }),
);

it("a payload that was never checked is a bug, not an answer", () =>
  withEngine((engine) => {
    expect(() => engine.run("acme", "JOB:COMPLETE", { jobKey: 1 })).toThrow(/jobKey/);
  }));
