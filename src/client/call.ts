import type { Json } from "../core/json.ts";
import { readAnswer } from "./answer.ts";
import { abortedBy, attempt, type Sending } from "./attempt.ts";
import { outcomeOf } from "./outcome.ts";
import type { CallError, Failure, Fault, Result } from "./result.ts";
import { decideRetry, earn, freshBudget, type GiveUp, type RetryBudget, type RetryState } from "./retry.ts";
import { checkedMs, type Settings } from "./settings.ts";

/** The shell around the decision: sends, reads, asks `decideRetry`, waits, and sends the same again. */

/** Options of every call. */
export interface CallOptions {
  /** Ends the call at once, also while it waits. */
  readonly signal?: AbortSignal | undefined;
  /** For this call instead of the client's. */
  readonly timeoutMs?: number | undefined;
  readonly totalMs?: number | undefined;
}

/** A client's settings, and what its calls share: plain data, which requests of a Worker may share too. */
export interface Shared {
  readonly settings: Settings;
  budget: RetryBudget;
}

export interface Request<T> extends Sending {
  /** How long the server may hold it, in seconds. */
  readonly waitSeconds: number;
  /** True when doing it twice is doing it once. */
  readonly repeatable: boolean;
  readonly commandId: string | null;
  readonly idempotencyKey: string | null;
  readonly decode: (status: number, json: Json | undefined) => T | null;
}

export function shared(settings: Settings): Shared {
  return { settings, budget: freshBudget(settings.retry.budget) };
}

/**
 * Makes a call, with as many tries as make sense.
 *
 * @param options `totalMs` bounds all of it: an answer is there by then, whatever the server does
 * @throws {TypeError} for options that cannot be meant
 */
export async function call<T>(client: Shared, request: Request<T>, options: CallOptions): Promise<Result<T>> {
  const { settings } = client;
  const { signal } = options;
  const timeoutMs = checkedMs("timeoutMs", options.timeoutMs ?? settings.timeoutMs) + request.waitSeconds * 1000;
  const totalMs = checkedMs("totalMs", options.totalMs ?? settings.retry.totalMs);
  const policy = { ...settings.retry, totalMs };
  const time = clockOf(client, totalMs);
  if (signal?.aborted) return aborted(request, signal, 0, null);
  client.budget = earn(client.budget, policy.budget);

  let previous: Fault | null = null;
  for (let attempts = 1; ; attempts++) {
    const limitMs = Math.max(1, Math.min(timeoutMs, time.leftMs()));
    const read = await tryOnce(settings, request, limitMs, signal);
    if (read.kind === "value") {
      return { ok: true, value: read.value, meta: { ...read.about, attempts } };
    }
    const { fault } = read;
    const { repeatable } = request;
    const state: RetryState = { attempts, elapsedMs: totalMs - time.leftMs(), repeatable, budget: client.budget };
    const decision = decideRetry(state, outcomeOf(fault), policy, settings.random());
    if (!decision.retry) return failed(request, fault, { attempts, gaveUp: decision.why, previous });
    client.budget = decision.next.budget;
    await settings.sleep(decision.waitMs, signal).catch(() => undefined);
    if (signal?.aborted) return aborted(request, signal, attempts, fault);
    previous = fault;
  }
}

/** The time of a call that begins now. A clock that steps back gives it no more than all of it. */
export function clockOf({ settings: { now } }: Shared, totalMs: number): { leftMs(): number } {
  const beganMs = now();
  return { leftMs: () => totalMs - Math.max(0, now() - beganMs) };
}

async function tryOnce<T>(settings: Settings, request: Request<T>, limitMs: number, signal: AbortSignal | undefined) {
  const made = await attempt(settings, request, limitMs, signal);
  if (made.kind === "silence") return { kind: "fault", fault: made.fault } as const;
  return readAnswer(made.answer, settings.now(), request.decode);
}

function aborted(request: Request<unknown>, signal: AbortSignal, attempts: number, previous: Fault | null): Failure {
  return failed(request, abortedBy(signal).fault, { attempts, gaveUp: "final", previous });
}

/** A failure with all that is known of the call. */
export function failed(
  { commandId, idempotencyKey }: { readonly commandId: string | null; readonly idempotencyKey: string | null },
  fault: Fault,
  trail: { readonly attempts: number; readonly gaveUp: GiveUp; readonly previous: Fault | null },
): Failure {
  const error: CallError = { ...fault, ...trail, commandId, idempotencyKey };
  return { ok: false, error };
}
