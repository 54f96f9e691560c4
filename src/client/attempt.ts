import type { Answer } from "./answer.ts";
import type { NetworkFault, StopFault, TimeoutFault } from "./result.ts";
import type { FetchResponse, Settings } from "./settings.ts";

/**
 * One try: headers, fetch, and the whole body, within a time and until the caller's signal aborts. Whichever ends it,
 * it is answered at once, the fetch is really aborted, and no timer and no listener is left.
 */

const ACCEPT = "application/json, application/problem+json";

/** What is sent. The body is one text for all tries of a call: a repeat is the same request to the byte. */
export interface Sending {
  readonly method: "GET" | "POST" | "DELETE";
  /** From `/v1`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export type Attempt =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "silence"; readonly fault: NetworkFault | TimeoutFault | StopFault };

/**
 * @param limitMs the longest that it may take, in milliseconds
 * @param signal the caller's, not aborted yet
 */
export async function attempt(
  settings: Settings,
  sending: Sending,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<Attempt> {
  const fetching = new AbortController();
  const timing = new AbortController();
  let abort = () => {};
  const stopped = new Promise<Attempt>((resolve) => {
    abort = () => signal && resolve(abortedBy(signal));
    signal?.addEventListener("abort", abort);
    settings.sleep(limitMs, timing.signal).then(
      () => resolve(timedOut(limitMs)),
      () => undefined,
    );
  });
  try {
    // A fetch that does not hear its signal must not hold the caller either.
    return await Promise.race([stopped, exchange(settings, sending, fetching.signal)]);
  } finally {
    signal?.removeEventListener("abort", abort);
    timing.abort();
    fetching.abort();
  }
}

/** The fault of a call whose signal has aborted. */
export function abortedBy(signal: AbortSignal): Attempt & { kind: "silence" } {
  const detail = "The caller's signal ended the call.";
  return silence({ code: "aborted", detail, requestId: null, cause: signal.reason });
}

function timedOut(limitMs: number): Attempt {
  return silence({ code: "timeout", detail: `No answer came within ${limitMs} ms.`, requestId: null });
}

function silence(fault: NetworkFault | TimeoutFault | StopFault): Attempt & { kind: "silence" } {
  return { kind: "silence", fault };
}

/** Never rejects: nobody may be left to hear it. */
async function exchange(settings: Settings, sending: Sending, signal: AbortSignal): Promise<Attempt> {
  let given: Readonly<Record<string, string>>;
  try {
    given = await settings.headers();
  } catch (cause) {
    const detail = `The headers function threw: ${wordsOf(cause)}`;
    return silence({ code: "headers_failed", detail, requestId: null, cause });
  }
  try {
    // The call may be over by now; nothing may be sent after its answer.
    signal.throwIfAborted();
    // Called on its own: the fetch of browsers and Workers is bound to no object of ours.
    const { fetch } = settings;
    const response = await fetch(settings.baseUrl + sending.path, {
      method: sending.method,
      headers: { ...lowerCased(given), ...lowerCased(sending.headers), accept: ACCEPT },
      ...(sending.body === null ? {} : { body: sending.body }),
      // A redirect would take the credential to wherever it points.
      redirect: "manual",
      signal,
    });
    return { kind: "answer", answer: await readWhole(response, settings.answerBytesMax, signal) };
  } catch (cause) {
    const detail = `No answer came: ${wordsOf(cause)}`;
    return silence({ code: "network", detail, requestId: null, cause });
  }
}

/** Node's fetch says no more than that it failed; why is one level down. */
function wordsOf(thrown: unknown): string {
  return thrown instanceof Error && thrown.cause !== undefined ? `${thrown} (${thrown.cause})` : String(thrown);
}

/**
 * @param signal aborts when the try is over, however it ended: what is left of the body is then never read
 * @throws when the stream breaks off
 */
async function readWhole(
  { status, headers, body }: FetchResponse,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Answer> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  signal.addEventListener("abort", () => reader?.cancel().catch(() => undefined));
  let text = "";
  for (let bytes = 0; reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done || value === undefined) break;
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
    if (bytes > bytesMax) return { status, headers, text, tooLarge: true };
  }
  return { status, headers, text: text + decoder.decode(), tooLarge: false };
}

/** Names in one spelling, so that a later one replaces an earlier one instead of standing beside it. */
function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
