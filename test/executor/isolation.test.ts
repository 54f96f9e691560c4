import { describe, expect, it } from "vitest";
import type { Intent } from "../../src/core/intents.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { type Engine, T0, UNKNOWN_KEY, withEngine } from "./harness.ts";

/** What acme has: a job that is leased, and one with an incident. */
function acmeAtWork(engine: Engine) {
  engine.deploy("acme", "p", ["a"]);
  engine.deploy("bolt", "p", ["a"]);
  const processInstanceKey = engine.start("acme", "p", { secret: 1 });
  const { jobKey } = engine.activateOne("acme", "a");
  engine.start("acme", "p", { secret: 2 });
  const brokenJobKey = engine.activateOne("acme", "a").jobKey;
  const incidentKey = engine.break("acme", brokenJobKey);
  return { processInstanceKey, jobKey, brokenJobKey, incidentKey };
}

type Keys = ReturnType<typeof acmeAtWork>;

const keyed: [string, Intent, keyof Keys, (key: string) => JsonObject][] = [
  ["cancel", "PROCESS_INSTANCE:CANCEL", "processInstanceKey", (key) => ({ processInstanceKey: key })],
  ["complete", "JOB:COMPLETE", "jobKey", (jobKey) => ({ jobKey, variables: { mine: true } })],
  ["complete a broken job", "JOB:COMPLETE", "brokenJobKey", (jobKey) => ({ jobKey })],
  ["fail", "JOB:FAIL", "jobKey", (jobKey) => ({ jobKey, retries: 0 })],
  ["fail a broken job", "JOB:FAIL", "brokenJobKey", (jobKey) => ({ jobKey })],
  ["throw an error", "JOB:THROW_ERROR", "jobKey", (jobKey) => ({ jobKey, errorCode: "E" })],
  ["update", "JOB:UPDATE", "jobKey", (jobKey) => ({ jobKey, timeoutSeconds: 1 })],
  ["update a broken job", "JOB:UPDATE", "brokenJobKey", (jobKey) => ({ jobKey, timeoutSeconds: 1 })],
  ["resolve by incident", "INCIDENT:RESOLVE", "incidentKey", (incidentKey) => ({ incidentKey })],
  ["resolve by job", "INCIDENT:RESOLVE", "brokenJobKey", (jobKey) => ({ jobKey })],
  ["resolve by a job without one", "INCIDENT:RESOLVE", "jobKey", (jobKey) => ({ jobKey })],
];

describe("another tenant's key is answered exactly like one that does not exist", () => {
  it.each(keyed)("%s", (_label, intent, which, payload) =>
    withEngine((engine) => {
      const key = acmeAtWork(engine)[which];
      const before = engine.dump();
      const theirs = JSON.stringify(engine.run("bolt", intent, payload(key)));
      const unknown = JSON.stringify(engine.run("bolt", intent, payload(UNKNOWN_KEY)));
      expect(theirs.replaceAll(key, UNKNOWN_KEY)).toBe(unknown);
      expect(unknown).toContain('"not_found"');
      expect(engine.dump()).toEqual(before);
    }),
  );
});

it("a tenant activates only its own jobs", () =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    engine.deploy("bolt", "p", ["a"]);
    engine.start("acme", "p", { whose: "acme" });
    engine.start("bolt", "p", { whose: "bolt" });
    expect(engine.activate("bolt", "a", T0, { maxJobs: 100 }).map((job) => job.variables)).toEqual([{ whose: "bolt" }]);
    expect(engine.activate("Acme", "a", T0, { maxJobs: 100 })).toEqual([]);
    expect(engine.activate("acme", "a", T0, { maxJobs: 100 })).toHaveLength(1);
  }));
