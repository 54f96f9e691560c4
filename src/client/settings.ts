import { type BudgetPolicy, DEFAULT_RETRY, type RetryPolicy } from "./retry.ts";

/** How a client is set up: its options, checked once and completed. A mistake in them throws where it was made. */

/** Who is asking. `headers` is asked anew for each try, so that a token that expires can be renewed. */
export type Credential =
  | { readonly apiKey: string; readonly tenant?: never; readonly key?: never; readonly headers?: never }
  | { readonly tenant: string; readonly key: string; readonly apiKey?: never; readonly headers?: never }
  | { readonly headers: HeadersSource; readonly apiKey?: never; readonly tenant?: never; readonly key?: never };

export type HeadersSource = () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

export type ClientOptions = Credential & {
  /** Where Headgate answers: `https://gate.example`, also with a path before `/v1`. */
  readonly baseUrl: string;
  /** False: each request is made once. */
  readonly retry?: RetryOptions | false | undefined;
  /** The longest that one try may take, in milliseconds, beside a wait that it asks for. Default 15 000. */
  readonly timeoutMs?: number | undefined;
  /** The longest that a call may take with all its tries, in milliseconds. Default 60 000; `run` and `wait` 300 000. */
  readonly totalMs?: number | undefined;
  /** The largest answer that is read, in bytes. Default 8 MiB. */
  readonly answerBytesMax?: number | undefined;
  /** The platform's `fetch` by default. A service binding's: `(url, init) => env.HEADGATE.fetch(url, init)`. */
  readonly fetch?: FetchLike | undefined;
} & Partial<Surroundings>;

export interface RetryOptions {
  /** Tries of one call, the first included. Default 8. */
  readonly attemptsMax?: number | undefined;
  /** The most that the first backoff may be, in milliseconds; each further one may be twice as long. Default 500. */
  readonly backoffBaseMs?: number | undefined;
  /** The most that any backoff may be, in milliseconds. Default 20 000. */
  readonly backoffMaxMs?: number | undefined;
  /** What all calls of this client share. Default: a retry for every fifth call, and a hundred in reserve. */
  readonly budget?: BudgetPolicy | undefined;
}

/** Time and chance, given by tests. */
export interface Surroundings {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Resolves after so many milliseconds, or at once when the signal aborts, and then leaves no timer. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** What is used of a `fetch`, spelt out so that no platform's types are needed. */
export type FetchLike = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): ByteReader } | null;
}

export interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<unknown>;
}

/** Options that were checked, each with its value. */
export interface Settings extends Surroundings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly headers: HeadersSource;
  readonly fetch: FetchLike;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  /** As `retry.totalMs`, for calls that wait for a command's end. */
  readonly waitTotalMs: number;
  readonly answerBytesMax: number;
}

/** The longest wait of Headgate for room is 5 s by default, and the way there and back is not long. */
const TIMEOUT_MS = 15_000;
/** As long as the longest `Retry-After` of a full queue: what was admitted behind one has mostly ended by then. */
const WAIT_TOTAL_MS = 300_000;
/** Eight times the variables that one activation may hand out; more is a mistake that must not fill a memory. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** Longer timers fire at once instead. */
const TIMER_MS_MAX = 2_147_483_647;

/** @throws {TypeError} for an option that cannot be meant, which it names */
export function settingsOf(options: ClientOptions): Settings {
  const { retry = {}, totalMs } = options;
  const {
    attemptsMax,
    backoffBaseMs,
    backoffMaxMs,
    budget = DEFAULT_RETRY.budget,
  } = retry === false ? NO_RETRY : retry;
  const { backoff } = DEFAULT_RETRY;
  return {
    baseUrl: checkedUrl(options.baseUrl),
    headers: headersOf(options),
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: checkedMs("timeoutMs", options.timeoutMs ?? TIMEOUT_MS),
    retry: {
      attemptsMax: checkedWhole("attemptsMax", attemptsMax ?? DEFAULT_RETRY.attemptsMax, 1),
      totalMs: checkedMs("totalMs", totalMs ?? DEFAULT_RETRY.totalMs),
      backoff: {
        baseMs: checkedMs("backoffBaseMs", backoffBaseMs ?? backoff.baseMs),
        maxMs: checkedMs("backoffMaxMs", backoffMaxMs ?? backoff.maxMs),
      },
      budget: {
        earnPercent: checkedWhole("earnPercent", budget.earnPercent, 0),
        reserve: checkedWhole("reserve", budget.reserve, 0),
      },
    },
    waitTotalMs: totalMs ?? WAIT_TOTAL_MS,
    answerBytesMax: checkedWhole("answerBytesMax", options.answerBytesMax ?? ANSWER_BYTES_MAX, 1),
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    sleep: options.sleep ?? sleep,
  };
}

const NO_RETRY: RetryOptions = { attemptsMax: 1 };

/** @throws {TypeError} for what no timer can hold */
export function checkedMs(name: string, ms: number): number {
  if (ms > 0 && ms <= TIMER_MS_MAX) return ms;
  throw new TypeError(`${name} must be over 0 and at most ${TIMER_MS_MAX} milliseconds, not ${ms}`);
}

/** @throws {TypeError} */
export function checkedWhole(name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name} must be a whole number from ${min} to ${max}, not ${value}`);
}

function checkedUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (url === null || !plain || url.username !== "" || url.password !== "") {
    throw new TypeError(`baseUrl must be an http or https URL without credentials, query and fragment: ${baseUrl}`);
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

function headersOf(options: Credential): HeadersSource {
  const { apiKey, tenant, key, headers } = options;
  const given = [apiKey, tenant ?? key, headers].filter((one) => one !== undefined);
  if (given.length !== 1) throw new TypeError("give exactly one of apiKey, tenant and key, headers");
  if (headers !== undefined) return headers;
  const authorization = apiKey === undefined ? basic(tenant, key) : `Bearer ${apiKey}`;
  if (!/^[\x20-\x7e]+$/.test(authorization)) throw new TypeError("apiKey must be printable ASCII");
  return () => ({ Authorization: authorization });
}

function basic(tenant: string | undefined, key: string | undefined): string {
  if (tenant === undefined || key === undefined) throw new TypeError("tenant and key go together");
  // RFC 7617: the first colon ends the name.
  if (tenant.includes(":")) throw new TypeError("tenant must not contain a colon");
  const bytes = new TextEncoder().encode(`${tenant}:${key}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}
