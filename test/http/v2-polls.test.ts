import { exports } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { settled } from "../support/event-loop.ts";
import { ADMIN, call, newTenant } from "../support/http.ts";

// Long polls of a worker: held without a cost, woken one by one, and nothing for who has gone.
// How long and in what order, on virtual time: test/durable/polling.test.ts.

let acme: Record<string, string>;
let type = "";
let tests = 0;

interface Jobs {
  jobs: { jobKey: string; worker: string; deadline: number }[];
}

beforeAll(async () => {
  acme = await newTenant("acme");
});

beforeEach(async () => {
  type = `pay-${++tests}`;
  await command("DEPLOYMENT:CREATE", { processId: type, tasks: [{ type }] });
});

function command(intent: string, payload: unknown, headers = acme) {
  return call("POST", "/v1/commands", headers, { intent, payload });
}

/** A job of this test's type becomes available. */
const newJob = () => command("PROCESS_INSTANCE:CREATE", { processId: type });

/** A poll under way, and what it was answered, once it was. */
function poll(worker: string, more: object = {}, headers = acme) {
  const hangUp = new AbortController();
  const held: { answer: { status: number; jobs: Jobs["jobs"] } | null } = { answer: null };
  const body = { type, timeout: 60_000, maxJobsToActivate: 1, worker, ...more };
  const asked = exports.default.fetch("https://gate.test/v2/jobs/activation", {
    method: "POST",
    headers: { "CF-Connecting-IP": "192.0.2.1", ...headers },
    body: JSON.stringify(body),
    signal: hangUp.signal,
  });
  const done = asked
    .then(async (response) => {
      const { jobs = [] } = (await response.json()) as Partial<Jobs>;
      held.answer = { status: response.status, jobs };
    })
    .catch(() => undefined);
  return { held, done, hangUp: () => hangUp.abort() };
}

const accepted = async () =>
  (await call<{ counters: { accepted: number } }>("GET", "/v1/queue", acme)).body.counters.accepted;

describe("a poll", () => {
  test("with a job is answered at once; without, when its time is over, and it has made no command", async () => {
    await newJob();
    const first = poll("first");
    await first.done;
    expect(first.held.answer).toMatchObject({ status: 200, jobs: [{ worker: "first" }] });
    const before = await accepted();
    for (const requestTimeout of [-1, 100]) {
      const second = poll("second", { requestTimeout });
      await second.done;
      expect(second.held.answer).toEqual({ status: 200, jobs: [] });
    }
    expect(await accepted()).toBe(before);
  });

  test("one job wakes one, the oldest; the next job the next", async () => {
    const polls: ReturnType<typeof poll>[] = [];
    for (const worker of ["a", "b", "c"]) {
      polls.push(poll(worker));
      await settled();
    }
    const before = await accepted();
    await newJob();
    await polls[0]?.done;
    await settled();
    const workers = () => polls.map(({ held }) => held.answer?.jobs[0]?.worker ?? null);
    expect(workers()).toEqual(["a", null, null]);
    // The creation and one activation: nobody else was sent to look.
    expect(await accepted()).toBe(before + 2);
    await newJob();
    await polls[1]?.done;
    expect(workers()).toEqual(["a", "b", null]);
    for (const { hangUp } of polls) hangUp();
  });

  test("whose worker has gone gets no job", async () => {
    const gone = poll("gone");
    await settled();
    gone.hangUp();
    await gone.done;
    await settled();
    await newJob();
    const alive = poll("alive", { requestTimeout: -1 });
    await alive.done;
    expect(alive.held.answer?.jobs).toHaveLength(1);
  });

  test("whose worker goes while its activation waits in the queue gets no job either", async () => {
    await newJob();
    await call("POST", "/admin/engine/pause", ADMIN, {});
    const gone = poll("gone");
    await settled();
    expect((await call("GET", "/v1/queue", acme)).body).toMatchObject({ depth: 1 });
    gone.hangUp();
    await gone.done;
    await settled();
    expect((await call("GET", "/v1/queue", acme)).body).toMatchObject({ depth: 0 });
    await call("POST", "/admin/engine/resume", ADMIN);
    const alive = poll("alive", { requestTimeout: -1 });
    await alive.done;
    expect(alive.held.answer?.jobs).toHaveLength(1);
  });

  test("takes no place and is charged once; another tenant's jobs do not wake it", async () => {
    const few = await newTenant("few", { requestsPerSecond: 0, burstSize: 2 });
    const other = await newTenant("other polls");
    const held = poll("held", { requestTimeout: 500 }, few);
    await settled();
    expect((await call("GET", "/v1/queue", few)).body).toMatchObject({ inFlight: 0, depth: 0 });
    await command("DEPLOYMENT:CREATE", { processId: type, tasks: [{ type }] }, other);
    await command("PROCESS_INSTANCE:CREATE", { processId: type }, other);
    await held.done;
    expect(held.held.answer).toEqual({ status: 200, jobs: [] });
    expect((await call("GET", "/v1/limits", few)).body).toMatchObject({ policies: [{ remaining: 1 }] });
    await poll("second", { requestTimeout: -1 }, few).done;
    const third = poll("third", { requestTimeout: -1 }, few);
    await third.done;
    expect(third.held.answer?.status).toBe(422);
  });
});
