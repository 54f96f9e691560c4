import type { Config } from "../config.ts";
import type { Asking } from "../core/held.ts";
import type { Holding } from "../core/holding.ts";
import { LEASE_GRACE_MS, type LeaseAsk } from "../core/lease.ts";
import type { Decision } from "../core/limiter.ts";
import { readAnswer } from "../core/limiter-answer.ts";
import type { Charged, LimiterRequest } from "../core/limiter-call.ts";
import type { PolicyReport } from "../core/policy-report.ts";
import type { Receipt } from "../core/receipts.ts";
import type { Subjects } from "../core/subjects.ts";
import { type Caller, callerKey, logFields } from "../identity/caller.ts";
import { edgeLimits } from "./edge-limits.ts";
import { bareLimiterOf, failureOf, limiterOf, ObjectUnreachable } from "./stubs.ts";

/**
 * Calls of the limiter objects: what this isolate can decide by itself, when it asks, and what it means when nobody
 * answers.
 */

/** What a request asks of its caller's limits. */
export interface LimitRequest {
  readonly cost: number;
  readonly critical: boolean;
  /** The request is refused further on whatever its limits say: it is judged, and not charged. */
  readonly judgeOnly?: boolean;
  /** Whom the caller names: limits of scope `key` count it, and do not apply without. */
  readonly key?: string | null;
  /** Nobody further on can refuse it, so that nothing will be given back. */
  readonly final?: boolean;
}

/** The request that a limiter is asked for. */
export interface Asker {
  readonly env: Env;
  readonly config: Config;
  readonly caller: Caller;
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** Lets work go on after the answer (`ctx.waitUntil`). */
  readonly afterwards: (work: Promise<void>) => void;
}

export type CheckAnswer =
  | { readonly kind: "decided"; readonly decision: Charged; readonly degraded: boolean }
  | { readonly kind: "unavailable"; readonly detail: string };

/** Decides by what this isolate holds, or by its limiter, which is asked where that is not enough: only then it is a promise. */
export function checkLimits(asker: Asker, request: LimitRequest): CheckAnswer | Promise<CheckAnswer> {
  const { caller, nowMs } = asker;
  const { cost, critical, judgeOnly = false, key = null } = request;
  const subjects = subjectsOf(caller, key);
  const held = holdingOf(caller, subjects);
  if (held === null || critical) return askLimiter(asker, held, subjects, request);
  const decision = judgeOnly ? held.judge(cost, true, nowMs) : held.decide(cost, nowMs);
  if (decision === null) return askLimiter(asker, held, subjects, request);
  if (held.isRunningOut(nowMs)) asker.afterwards(renew(asker, held));
  return { kind: "decided", decision, degraded: false };
}

/** What this isolate would say to an ordinary request, charging nothing. Null: it does not know. */
export function refusesHere(
  { caller, nowMs }: Pick<Asker, "caller" | "nowMs">,
  cost: number,
  judgeOnly: boolean,
): Decision | null {
  return holdingOf(caller, subjectsOf(caller, null))?.judge(cost, judgeOnly, nowMs) ?? null;
}

/**
 * Asks the caller's limiter. One that does not answer in `LIMITER_TIMEOUT_MS`, or cannot be reached, is answered for by
 * `LIMITER_FAILURE`: open admits and says so (`degraded`), closed refuses all but critical commands. A limiter that throws
 * has a bug, and no failure mode makes that an admission.
 */
async function askLimiter(
  asker: Asker,
  held: Holding | null,
  subjects: Subjects,
  request: LimitRequest,
): Promise<CheckAnswer> {
  const { config, caller, nowMs } = asker;
  const { cost, critical, judgeOnly = false, final = false } = request;
  const asking = critical ? null : (held?.ask(leaseMsFor(asker), nowMs) ?? null);
  const whole = { cost, ...(critical && { critical }), ...(judgeOnly && { judgeOnly }), ...(final && { final }) };
  const decision = await ask(asker, held, subjects, asking, whole);
  if (decision !== null) {
    if (critical && decision.outcome === "allowed") held?.countCritical(cost, nowMs);
    return { kind: "decided", decision, degraded: false };
  }
  console.warn(
    JSON.stringify({ event: "limiter_degraded", ...logFields(callerKey(caller)), failure: config.LIMITER_FAILURE }),
  );
  if (config.LIMITER_FAILURE === "closed" && !critical)
    return { kind: "unavailable", detail: "The rate limiter does not answer." };
  return { kind: "decided", decision: { outcome: "allowed", reports: [] }, degraded: true };
}

/**
 * Asks the object, and takes over what it shows and lends. What it knows already is not sent again: a third of the time
 * of a call is for what goes along with it.
 *
 * @returns null when it does not answer in time
 */
async function ask(
  { env, config, caller, afterwards }: Asker,
  held: Holding | null,
  subjects: Subjects,
  asking: Asking | null,
  request: LimiterRequest,
): Promise<Charged | null> {
  const limiter = bareLimiterOf(env, callerKey(caller));
  const whole = {
    ...request,
    ...(held?.countsTenantOnly ? {} : { subjects }),
    ...(asking !== null && {
      isolate: edgeLimits().isolate,
      ...(isEmpty(asking.lease) ? {} : { lease: asking.lease }),
    }),
  };
  const { limits, tier } = caller;
  const timeoutMs = config.LIMITER_TIMEOUT_MS;
  const version = held?.isTold ? limits?.version : undefined;
  const inFull = { ...whole, limits, tier };
  const check = (call: LimiterRequest) => answeredInTime(() => limiter.check(call), timeoutMs);
  let answer: Charged | null = null;
  try {
    const first = understood(await check(version === undefined ? inFull : { ...whole, version }));
    answer = decisionOf(first?.outcome === "unknown_limits" ? understood(await check(inFull)) : first);
  } finally {
    // A call that failed, in whatever way, lends nothing, and must not keep the next one from being lent to.
    held?.told(answer !== null);
    if (answer === null && asking !== null) held?.failed(asking);
  }
  if (held === null || asking === null || answer === null) return answer;
  const { view = null } = answer;
  const heard = held.hear(asking, view, Date.now());
  if (heard !== null && view !== null) afterwards(endOfLease(env, caller, held, heard, view.lastsMs));
  return answer;
}

/** @throws when the object answers what this version does not understand: that admits nothing */
function understood(answer: unknown): ReturnType<typeof readAnswer> {
  const read = answer === null ? null : readAnswer(answer);
  if (read === null && answer !== null) throw new Error("the limiter's answer is not understood");
  return read;
}

function decisionOf(answer: ReturnType<typeof readAnswer>): Charged | null {
  if (answer?.outcome === "unknown_limits") throw new Error("the object was told the limits");
  return answer;
}

function isEmpty({ want, kept, held, done }: LeaseAsk): boolean {
  return want + kept === 0 && held === null && done.admitted === 0 && done.refused === 0;
}

function subjectsOf(caller: Caller, key: string | null): Subjects {
  return { credential: caller.credential, ip: caller.address, key };
}

/** Null while D1 has told nothing of the caller's limits: then its object alone knows them. */
function holdingOf(caller: Caller, subjects: Subjects): Holding | null {
  const { limits } = caller;
  return limits === null ? null : edgeLimits().holding({ limiter: callerKey(caller), limits, subjects });
}

/** How long tokens are leased to this caller's requests, in milliseconds; null: not at all. */
function leaseMsFor({ config, caller }: Asker): number | null {
  return config.LIMITER_MODE === "exact" || caller.limiterMode === "exact" ? null : config.LEASE_MS;
}

/** Asks for the next lease, behind a request that the present one has answered. */
async function renew(asker: Asker, held: Holding): Promise<void> {
  const asking = held.ask(leaseMsFor(asker), asker.nowMs, true);
  try {
    await ask(asker, held, held.subjects, asking, { cost: 0 });
  } catch (error) {
    // No request waits for it: the next one asks by itself, and is told.
    console.warn(JSON.stringify({ event: "lease_not_renewed", error: String(error) }));
  }
}

/** A lease that nobody has renewed goes back at its end, with the account of what was decided by it. */
async function endOfLease(env: Env, caller: Caller, held: Holding, heard: object, lastsMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, lastsMs + LEASE_GRACE_MS));
  const lease = held.end(heard);
  if (lease === null) return;
  try {
    await limiterOf(env, callerKey(caller)).settle([{ lease, subjects: held.subjects }]);
  } catch (error) {
    // What does not arrive stays charged, and is forgiven by time.
    console.warn(JSON.stringify({ event: "lease_lost", ...logFields(callerKey(caller)), error: String(error) }));
  }
}

/** The answer, or null when there is nobody to give it, or it took longer than `timeoutMs`. */
function answeredInTime<T>(ask: () => Promise<T>, timeoutMs: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), timeoutMs);
    ask().then(
      (answer) => {
        clearTimeout(timer);
        resolve(answer);
      },
      (error: unknown) => {
        clearTimeout(timer);
        const failure = error instanceof ObjectUnreachable ? error : failureOf(error);
        if (failure instanceof ObjectUnreachable) resolve(null);
        else reject(failure);
      },
    );
  });
}

/**
 * Gives a caller back what it was charged for a request that was refused further on, once however often this is called.
 *
 * @returns how its policies stand now; null when its limiter does not answer: the refusal must not wait for it
 */
export async function refundCaller(
  { env, config, caller, nowMs }: Asker,
  cost: number,
  receipt: Receipt,
): Promise<readonly PolicyReport[] | null> {
  const subjects = subjectsOf(caller, null);
  const held = holdingOf(caller, subjects);
  if (edgeLimits().given.has(receipt)) return null;
  const here = held?.refund(cost, receipt, nowMs) ?? null;
  if (here !== null) return here;
  const limiter = limiterOf(env, callerKey(caller));
  return await answeredInTime(() => limiter.refund(cost, receipt, subjects), config.LIMITER_TIMEOUT_MS);
}

/** Tells a caller's limiter how long its commands took, for a rate that adapts. Never rejects: others follow. */
export async function observeLatencies(env: Env, caller: Caller, latenciesMs: readonly number[]): Promise<void> {
  try {
    await limiterOf(env, callerKey(caller)).observe(latenciesMs);
  } catch (error) {
    console.warn(JSON.stringify({ event: "latencies_lost", tenant: caller.tenant, error: String(error) }));
  }
}
