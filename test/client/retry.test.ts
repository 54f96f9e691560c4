import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outcomeOf } from "../../src/client/outcome.ts";
import type { Fault } from "../../src/client/result.ts";
import {
  DEFAULT_RETRY,
  decideRetry,
  earn,
  freshBudget,
  type Outcome,
  type RetryPolicy,
  type RetryState,
} from "../../src/client/retry.ts";
import type { ProblemCode } from "../../src/core/problem.ts";
import { seeded } from "../../src/core/random.ts";

// The decision alone: no clock, no server.

const POLICY: RetryPolicy = {
  attemptsMax: 5,
  totalMs: 60_000,
  backoff: { baseMs: 250, maxMs: 10_000 },
  budget: { earnPercent: 20, reserve: 10 },
};

const first: RetryState = {
  attempts: 1,
  elapsedMs: 0,
  repeatable: true,
  budget: freshBudget(POLICY.budget),
};
const refused = (retryAfterMs: number | null): Outcome => ({ kind: "refused", retryAfterMs });
const doubtful = (retryAfterMs: number | null): Outcome => ({ kind: "doubtful", retryAfterMs });

test("by default nearly every call outlasts a restart of five seconds, and no call a minute", () => {
  const random = seeded(1);
  let outlasted = 0;
  for (let n = 0; n < 1_000; n++) {
    let state: RetryState = { ...first, budget: freshBudget(DEFAULT_RETRY.budget) };
    for (;;) {
      const decision = decideRetry(state, doubtful(null), DEFAULT_RETRY, random());
      if (!decision.retry) break;
      state = decision.next;
    }
    if (state.elapsedMs > 5_000) outlasted += 1;
    expect(state.elapsedMs).toBeLessThan(60_000);
  }
  expect(outlasted).toBeGreaterThan(990);
});

describe("whether to try again", () => {
  test.each<[string, Partial<RetryState>, Outcome, string | number]>([
    ["an answer that a repeat would not change: no", {}, { kind: "final" }, "final"],
    ["refused for 2 s: after them, and half of the tenth that is jitter", {}, refused(2_000), 2_100],
    ["refused, and nobody says how long: half of the first backoff", {}, refused(null), 125],
    ["told to come at once: as if nobody had said", {}, refused(0), 125],
    ["the third backoff is four times the first", { attempts: 3 }, doubtful(null), 500],
    ["in doubt, and a repeat is safe: yes", {}, doubtful(null), 125],
    ["in doubt, and a repeat may do it twice: no", { repeatable: false }, doubtful(null), "not_repeatable"],
    ["refused, so it was not done: a repeat is safe anyway", { repeatable: false }, refused(null), 125],
    ["the last of the tries", { attempts: 5 }, refused(null), "attempts"],
    ["told to wait as long as all that is left: no", { elapsedMs: 58_000 }, refused(2_000), "time"],
    ["a millisecond less: just in time, without jitter", { elapsedMs: 57_999 }, refused(2_000), 2_000],
    ["told to wait for a day: no, at once", {}, refused(86_400_000), "time"],
    ["a backoff longer than what is left: no", { attempts: 4, elapsedMs: 59_500 }, doubtful(null), "time"],
    ["a budget that is spent: no", { budget: { hundredths: 99 } }, refused(null), "budget"],
    ["the last retry of a budget", { budget: { hundredths: 100 } }, refused(null), 125],
    ["at most 5 s of jitter", {}, refused(58_000), 59_000],
  ])("%s", (_label, change, outcome, expected) => {
    const decision = decideRetry({ ...first, ...change }, outcome, POLICY, 0.5);
    expect(decision.retry ? decision.waitMs : decision.why).toBe(expected);
  });

  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const anyState = fc.record({
    attempts: fc.integer({ min: 1, max: 12 }),
    elapsedMs: fc.integer({ min: 0, max: 120_000 }),
    repeatable: fc.boolean(),
    budget: fc.record({ hundredths: fc.integer({ min: 0, max: 1_000 }) }),
  });
  const anyWait = fc.option(fc.integer({ min: 0, max: 200_000 }));
  const anyOutcome = fc.oneof(
    fc.constant<Outcome>({ kind: "final" }),
    fc.record({ kind: fc.constantFrom("refused" as const, "doubtful" as const), retryAfterMs: anyWait }),
  );

  test("a retry is never earlier than told, always within the call's time, and costs exactly one", () => {
    fc.assert(
      fc.property(anyState, anyOutcome, chance, (state, outcome, random) => {
        const decision = decideRetry(state, outcome, POLICY, random);
        if (!decision.retry) return;
        const told = outcome.kind === "final" ? 0 : (outcome.retryAfterMs ?? 0);
        expect(decision.waitMs).toBeGreaterThanOrEqual(told);
        expect(state.elapsedMs + decision.waitMs).toBeLessThan(POLICY.totalMs);
        expect(decision.next.budget.hundredths).toBe(state.budget.hundredths - 100);
        expect(decision.next).toMatchObject({
          attempts: state.attempts + 1,
          elapsedMs: state.elapsedMs + decision.waitMs,
        });
      }),
      { numRuns: 2_000 },
    );
  });

  test("whatever happens to whichever calls, retries are at most the reserve and the earned part of first tries", () => {
    const step = fc.record({ calls: fc.integer({ min: 0, max: 20 }), failures: fc.integer({ min: 0, max: 40 }) });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 0, max: 150 }),
        fc.integer({ min: 0, max: 20 }),
        (steps, earnPercent, reserve) => {
          const policy: RetryPolicy = { ...POLICY, budget: { earnPercent, reserve } };
          let budget = freshBudget(policy.budget);
          let calls = 0;
          let retries = 0;
          for (const { calls: made, failures } of steps) {
            for (let n = 0; n < made; n++) budget = earn(budget, policy.budget);
            calls += made;
            for (let n = 0; n < failures; n++) {
              const decision = decideRetry({ ...first, budget }, refused(null), policy, 0.5);
              if (!decision.retry) continue;
              budget = decision.next.budget;
              retries += 1;
            }
            expect(100 * retries).toBeLessThanOrEqual(100 * reserve + earnPercent * calls);
            expect(budget.hundredths).toBeGreaterThanOrEqual(0);
          }
        },
      ),
    );
  });

  test("in a long outage one retry is made for every five calls, and no saving from better days bursts out", () => {
    let budget = freshBudget(POLICY.budget);
    for (let n = 0; n < 100_000; n++) budget = earn(budget, POLICY.budget);
    let retries = 0;
    for (let n = 0; n < 1_000; n++) {
      budget = earn(budget, POLICY.budget);
      const decision = decideRetry({ ...first, budget }, doubtful(null), POLICY, 0);
      if (decision.retry) budget = decision.next.budget;
      if (decision.retry) retries += 1;
    }
    expect(retries).toBe(10 + 200 - 1);
  });

  test("a client without a reserve still gets what it earns", () => {
    const policy = { ...POLICY, budget: { earnPercent: 20, reserve: 0 } };
    let budget = freshBudget(policy.budget);
    for (let n = 0; n < 5; n++) {
      expect(decideRetry({ ...first, budget }, refused(null), policy, 0).retry).toBe(false);
      budget = earn(budget, policy.budget);
    }
    expect(decideRetry({ ...first, budget }, refused(null), policy, 0).retry).toBe(true);
  });
});

describe("what a fault means for a repeat", () => {
  const base = { detail: "", requestId: null, retryAfterSeconds: 7, violatedPolicies: [], errors: [] };
  const of = (status: number, code: ProblemCode): Fault => ({ ...base, status, code });
  const page = (status: number): Fault => ({
    ...base,
    status,
    code: "unexpected_answer",
    why: "not_json",
    bodyStart: "<",
  });
  const foreign = (status: number): Fault => ({ ...base, status, code: "unknown_problem", problemCode: "x" });
  const lost = { detail: "", requestId: null, cause: null };

  test.each<[string, Fault, Outcome["kind"]]>([
    ["rate_limited", of(429, "rate_limited"), "refused"],
    ["queue_full", of(503, "queue_full"), "refused"],
    ["request_limit", of(503, "request_limit"), "refused"],
    ["write_limit", of(503, "write_limit"), "refused"],
    ["engine_paused", of(503, "engine_paused"), "refused"],
    ["unavailable", of(503, "unavailable"), "refused"],
    ["idempotency_in_flight", of(409, "idempotency_in_flight"), "refused"],
    ["idempotency_in_flight with another status", of(400, "idempotency_in_flight"), "final"],
    ["idempotency_conflict", of(422, "idempotency_conflict"), "final"],
    ["conflict", of(409, "conflict"), "final"],
    ["cost_exceeds_capacity", of(422, "cost_exceeds_capacity"), "final"],
    ["internal", of(500, "internal"), "doubtful"],
    ["a code of 503 with the status 400", of(400, "queue_full"), "final"],
    ["a page with 429: what stands before the server let nothing through", page(429), "refused"],
    ["a page with 503: it may have been passed on before", page(503), "doubtful"],
    ["a page with 502", page(502), "doubtful"],
    ["a page with 524, Cloudflare's own", page(524), "doubtful"],
    ["a page with 501", page(501), "final"],
    ["a page with 404", page(404), "final"],
    ["a page with 200", page(200), "final"],
    ["a foreign problem with 503", foreign(503), "doubtful"],
    ["a foreign problem with 409", foreign(409), "final"],
    ["a connection that broke", { ...lost, code: "network" }, "doubtful"],
    ["no answer in time", { detail: "", requestId: null, code: "timeout" }, "doubtful"],
    ["the caller's abort", { ...lost, code: "aborted" }, "final"],
    ["the caller's headers", { ...lost, code: "headers_failed" }, "final"],
  ])("%s", (_label, fault, kind) => {
    const outcome = outcomeOf(fault);
    expect(outcome.kind).toBe(kind);
    if (outcome.kind !== "final" && "retryAfterSeconds" in fault) expect(outcome.retryAfterMs).toBe(7_000);
  });

  test("no status of 4xx but 429, and 409 in flight, is ever tried again, whatever the code", () => {
    const codes: ProblemCode[] = ["queue_full", "internal", "unavailable", "conflict", "rate_limited", "not_found"];
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 499 }), fc.constantFrom(...codes), (status, code) => {
        for (const fault of [of(status, code), page(status), foreign(status)]) {
          expect(outcomeOf(fault).kind).toBe(status === 429 ? "refused" : "final");
        }
      }),
    );
  });
});
