import { type Client, createClient, type FetchInit, type FetchResponse } from "../../src/client/index.ts";
import type { ClientOptions } from "../../src/client/settings.ts";

/** Virtual time, and a server that plays a script, for tests of a client that never wait. */

const START_MS = Date.UTC(2026, 0, 1);

/** A clock that moves only when everybody waits for it. */
export class VirtualTime {
  nowMs = START_MS;
  readonly #timers = new Set<{ readonly atMs: number; readonly fire: () => void }>();

  /** Timers that nobody has stopped. */
  get pending(): number {
    return this.#timers.size;
  }

  readonly now = () => this.nowMs;

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const fire = () => {
        this.#timers.delete(timer);
        signal?.removeEventListener("abort", fire);
        resolve();
      };
      const timer = { atMs: this.nowMs + ms, fire };
      this.#timers.add(timer);
      signal?.addEventListener("abort", fire);
    });

  /** Lets time pass until a promise has settled, from one timer to the next. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    for (;;) {
      await idle();
      if (settled) return promise;
      const next = [...this.#timers].sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) throw new Error("everybody waits, and no timer is set");
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.fire();
    }
  }
}

/** All that can go on without time has gone on. */
export async function idle(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
}

/** How many listen for a signal's abort from now on, at any time. */
export function countListeners(signal: AbortSignal): () => number {
  const listening = new Set<unknown>();
  const { addEventListener: add, removeEventListener: remove } = signal;
  signal.addEventListener = (type: string, listener: never) => {
    listening.add(listener);
    add.call(signal, type, listener);
  };
  signal.removeEventListener = (type: string, listener: never) => {
    listening.delete(listener);
    remove.call(signal, type, listener);
  };
  return () => listening.size;
}

/** A request as the server saw it. */
export interface Seen {
  readonly url: string;
  readonly atMs: number;
  readonly init: FetchInit;
}

/** What the server does with a request: answers, after a while if it likes, or throws as a broken connection does. */
export type Play = (seen: Seen, time: VirtualTime) => FetchResponse | Promise<FetchResponse>;

export interface Stage {
  readonly client: Client;
  readonly time: VirtualTime;
  /** Every request, in order. */
  readonly seen: Seen[];
}

/** Few and short, so that a test reads at a glance. */
const RETRY = {
  attemptsMax: 5,
  backoffBaseMs: 250,
  backoffMaxMs: 10_000,
  budget: { earnPercent: 20, reserve: 10 },
};

/** @param plays what is done with the first request, the second, …; the last one with all that follow */
export function stage(plays: readonly Play[], options: Partial<ClientOptions> = {}): Stage {
  const time = new VirtualTime();
  const seen: Seen[] = [];
  const client = createClient({
    baseUrl: "https://gate.test",
    apiKey: "hg_test",
    now: time.now,
    sleep: time.sleep,
    random: () => 0.5,
    fetch: async (url, init) => {
      const request = { url, init, atMs: time.nowMs };
      seen.push(request);
      const play = plays[Math.min(seen.length, plays.length) - 1];
      if (play === undefined) throw new Error("the script is empty");
      return play(request, time);
    },
    ...options,
    retry: options.retry === false ? false : { ...RETRY, ...options.retry },
  } as ClientOptions);
  return { client, time, seen };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Play =>
  () =>
    new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json", ...headers } });

/** A problem of Headgate. `retryAfter` goes into body and header, as Headgate does it. */
export function problem(status: number, code: string, retryAfter?: number, more: object = {}): Play {
  const told = retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
  const body = { type: "about:blank", title: "No", status, detail: `no: ${code}`, instance: "/v1", code, ...more };
  return json(status, retryAfter === undefined ? body : { ...body, retryAfterSeconds: retryAfter }, {
    "Content-Type": "application/problem+json",
    "X-Request-Id": "req-1",
    ...told,
  });
}

export const raw =
  (status: number, body: string, headers: Record<string, string> = {}): Play =>
  () =>
    new Response(body, { status, headers });

export const page = (status: number, headers: Record<string, string> = {}): Play =>
  raw(status, "<!doctype html><title>Gateway</title>", { "Content-Type": "text/html", ...headers });

export const broken: Play = () => {
  throw new TypeError("fetch failed");
};

/** Never answers, and does not even hear the abort. */
export const silent: Play = () => new Promise(() => {});

export const accepted = (commandId = "1000000000000001", more: object = {}): Play =>
  json(202, { commandId, state: "queued", statusUrl: `/v1/commands/${commandId}`, ...AHEAD, ...more });
const AHEAD = { queuedAhead: 3, estimatedWaitSeconds: 2 };

export function view(state: string, more: object = {}): object {
  const base = { commandId: "1000000000000001", intent: "PROCESS_INSTANCE:CREATE", state, attempts: 1 };
  const finished = state === "queued" || state === "running" ? {} : { finishedAt: "2026-01-01T00:00:01.000Z" };
  return { ...base, acceptedAt: "2026-01-01T00:00:00.000Z", ...finished, ...more };
}

export const succeeded = json(200, view("succeeded", { result: { processInstanceKey: "1000000000000002" } }));
export const CREATE = ["PROCESS_INSTANCE:CREATE", { processId: "order" }] as const;
