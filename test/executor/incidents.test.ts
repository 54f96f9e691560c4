import { expect, it } from "vitest";
import { failed, SECOND, T0, UNKNOWN_KEY, withEngine } from "./harness.ts";

const LATER = T0 + 86_400 * SECOND;
const incidents = "SELECT type, message FROM process_incidents";

it.each([
  ["said to have none left", 5, { retries: 0 }],
  ["that had its last try", 1, {}],
])("a failed job %s gets an incident, and nobody gets the job", (_label, retries, payload) =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"], retries);
    engine.start("acme", "p");
    const { jobKey } = engine.activateOne("acme", "a");
    const result = engine.ok("acme", "JOB:FAIL", { jobKey, errorMessage: "no paper", ...payload });
    expect(result).toEqual({ incidentKey: expect.stringMatching(/^\d{16}$/) });
    expect(engine.rows(incidents)).toEqual([{ type: "JOB_NO_RETRIES", message: "no paper" }]);
    expect(engine.activate("acme", "a", LATER)).toEqual([]);
  }),
);

it.each([
  ["its code alone", {}, 'Nothing in the process catches the error "OUT_OF_STOCK".'],
  [
    "its code and its message",
    { errorMessage: "none" },
    'Nothing in the process catches the error "OUT_OF_STOCK": none',
  ],
])("a thrown error is an incident that names %s; the job keeps its retries and drops the variables", (...row) =>
  withEngine((engine) => {
    const [, payload, message] = row;
    engine.deploy("acme", "p", ["a"], 5);
    engine.start("acme", "p", { n: 1 });
    const { jobKey } = engine.activateOne("acme", "a");
    const thrown = { jobKey, errorCode: "OUT_OF_STOCK", variables: { n: 2 }, ...payload };
    expect(engine.ok("acme", "JOB:THROW_ERROR", thrown)).toEqual({ incidentKey: expect.any(String) });
    expect(engine.rows(incidents)).toEqual([{ type: "UNHANDLED_ERROR_EVENT", message }]);
    expect(engine.activate("acme", "a", LATER)).toEqual([]);
    engine.ok("acme", "INCIDENT:RESOLVE", { jobKey });
    expect(engine.activateOne("acme", "a")).toMatchObject({ jobKey, retries: 5, variables: { n: 1 } });
  }),
);

it.each([
  ["JOB:COMPLETE", {}],
  ["JOB:FAIL", {}],
  ["JOB:FAIL", { retries: 3 }],
  ["JOB:THROW_ERROR", { errorCode: "E" }],
] as const)("%s %j of a job with an incident is refused, names the incident, and changes nothing", (intent, payload) =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    engine.start("acme", "p");
    const { jobKey } = engine.activateOne("acme", "a");
    const incidentKey = engine.break("acme", jobKey);
    const before = engine.dump();
    const outcome = engine.run("acme", intent, { jobKey, ...payload });
    expect(outcome).toEqual(failed("invalid_state", jobKey));
    expect(outcome).toEqual(failed("invalid_state", incidentKey));
    expect(engine.dump()).toEqual(before);
  }),
);

it.each(["incidentKey", "jobKey"])("an incident resolved by %s gives the job back at once, with one retry", (by) =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    engine.start("acme", "p");
    const { jobKey } = engine.activateOne("acme", "a");
    const incidentKey = engine.break("acme", jobKey);
    const key = by === "jobKey" ? jobKey : incidentKey;
    expect(engine.ok("acme", "INCIDENT:RESOLVE", { [by]: key }, T0 + 5)).toEqual({});
    expect(engine.rows(incidents)).toEqual([]);
    expect(engine.activate("acme", "a", T0 + 4)).toEqual([]);
    expect(engine.activateOne("acme", "a", T0 + 5)).toMatchObject({ jobKey, retries: 1 });
    expect(engine.run("acme", "INCIDENT:RESOLVE", { [by]: key })).toEqual(failed("not_found", key));
  }),
);

it("a job can be broken and repaired again and again, each time with a new incident", () =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    engine.start("acme", "p");
    const keys = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const incidentKey = engine.break("acme", engine.activateOne("acme", "a").jobKey);
      keys.add(incidentKey);
      engine.ok("acme", "INCIDENT:RESOLVE", { incidentKey });
    }
    expect(keys.size).toBe(3);
    engine.ok("acme", "JOB:COMPLETE", { jobKey: engine.activateOne("acme", "a").jobKey });
    expect(engine.rows("SELECT state FROM process_instances")).toEqual([{ state: "completed" }]);
  }));

it("an incident stands in the way of its own job only", () =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    engine.start("acme", "p", { n: 1 });
    engine.start("acme", "p", { n: 2 });
    engine.break("acme", engine.activateOne("acme", "a").jobKey);
    expect(engine.activate("acme", "a", T0, { maxJobs: 10 }).map((job) => job.variables)).toEqual([{ n: 2 }]);
  }));

it.each([
  ["incidentKey", UNKNOWN_KEY],
  ["incidentKey", "17"],
  ["jobKey", UNKNOWN_KEY],
])("resolving by an unknown %s is not found", (by, key) =>
  withEngine((engine) => {
    expect(engine.run("acme", "INCIDENT:RESOLVE", { [by]: key })).toEqual(failed("not_found", key));
  }),
);

it("a job's key is not an incident's key, and a job without an incident has none to resolve", () =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    engine.start("acme", "p");
    const { jobKey } = engine.activateOne("acme", "a");
    expect(engine.run("acme", "INCIDENT:RESOLVE", { jobKey })).toEqual(failed("not_found", jobKey));
    engine.break("acme", jobKey);
    expect(engine.run("acme", "INCIDENT:RESOLVE", { incidentKey: jobKey })).toEqual(failed("not_found", jobKey));
  }));
