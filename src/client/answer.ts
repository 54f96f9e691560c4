import { isJsonObject, type Json, type JsonObject, keepsNumbers, parseJsonValues } from "../core/json.ts";
import { scanJson } from "../core/json-scan.ts";
import { type FieldFault, type ProblemCode, WIRE } from "../core/problem.ts";
import { parseLimitHeader } from "../core/rate-headers.ts";
import { parseRetryAfter } from "../core/retry-after.ts";
import type { Fault, Meta, RateLimit, UnexpectedAnswerFault } from "./result.ts";

/**
 * An HTTP answer as a value or a fault. Pure. A server, or whatever stands before it, may send anything: a page for
 * people, half a JSON, a redirect; none of it is ever taken for a yes, and none of it throws.
 */

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** The body, or its beginning where it was longer than is read. */
  readonly text: string;
  readonly tooLarge: boolean;
}

export type Read<T> =
  | { readonly kind: "value"; readonly value: T; readonly about: Omit<Meta, "attempts"> }
  | { readonly kind: "fault"; readonly fault: Fault };

/** The codes that this version knows. */
const CODES: ReadonlySet<unknown> = new Set(Object.keys(WIRE));

/** Enough of a page to see whose it is. In UTF-16 units. */
const BODY_START_LENGTH = 200;

/**
 * @param nowMs Unix milliseconds, which a date in `Retry-After` is counted from
 * @param decode the value in a success's JSON (undefined: it had no body), or null when it is not of the right form
 */
export function readAnswer<T>(
  answer: Answer,
  nowMs: number,
  decode: (status: number, json: Json | undefined) => T | null,
): Read<T> {
  const { status, headers, text, tooLarge } = answer;
  const requestId = headers.get("X-Request-Id");
  const common = { status, requestId, retryAfterSeconds: retryAfterOf(undefined, headers, nowMs) };
  const unexpected = (why: UnexpectedAnswerFault["why"], detail: string): Read<T> => {
    const bodyStart = text.slice(0, BODY_START_LENGTH);
    return { kind: "fault", fault: { code: "unexpected_answer", why, detail, bodyStart, ...common } };
  };
  // A browser shows a redirect that it must not follow as status 0.
  if (status === 0 || (status >= 300 && status < 400)) {
    return unexpected("redirect", `The server answered with a redirect (${status}), which is never followed.`);
  }
  if (tooLarge) return unexpected("too_large", `The answer (${status}) is larger than is read.`);
  const json = parseAnswer(text);
  if (json === NOT_JSON) return unexpected("not_json", `The answer (${status}) is not JSON.`);
  if (json === INEXACT) {
    return unexpected("inexact_number", `The answer (${status}) has a number that this JavaScript engine would round.`);
  }
  if (status >= 400) {
    const problem = isProblem(headers) && isJsonObject(json) ? json : null;
    if (problem === null) return unexpected("wrong_shape", `The answer (${status}) is not a problem of Headgate.`);
    return { kind: "fault", fault: faultOf(problem, status, requestId, retryAfterOf(problem, headers, nowMs)) };
  }
  const value = decode(status, json);
  if (value === null) return unexpected("wrong_shape", `The answer (${status}) is not of the form that was expected.`);
  const replayed = headers.get("Idempotency-Replayed") === "true";
  return { kind: "value", value, about: { requestId, replayed, rateLimit: tightestLimit(headers.get("RateLimit")) } };
}

function faultOf(problem: JsonObject, status: number, requestId: string | null, retryAfterSeconds: number | null) {
  const { code, title, detail, errors } = problem;
  const told = [detail, title].find((text) => typeof text === "string");
  const common = { status, requestId, retryAfterSeconds, detail: String(told ?? `The server answered ${status}.`) };
  if (!isCode(code)) {
    return { ...common, code: "unknown_problem", problemCode: typeof code === "string" ? code : null } as const;
  }
  return { ...common, code, violatedPolicies: texts(problem["violated-policies"]), errors: fieldFaults(errors) };
}

/** The longer of what body and header say, in whole seconds, so that nobody comes earlier than either. */
function retryAfterOf(problem: JsonObject | undefined, headers: Answer["headers"], nowMs: number): number | null {
  const headerMs = parseRetryAfter(headers.get("Retry-After"), nowMs);
  const inBody = problem?.retryAfterSeconds;
  const bodySeconds = typeof inBody === "number" && inBody >= 0 ? inBody : null;
  if (headerMs === null && bodySeconds === null) return null;
  return Math.ceil(Math.max(bodySeconds ?? 0, (headerMs ?? 0) / 1000));
}

/** The limit with the least left; of two, the one that is longer in coming back. */
function tightestLimit(header: string | null): RateLimit | null {
  const limits = header === null ? null : parseLimitHeader(header);
  const [tightest] = (limits ?? []).toSorted((a, b) => a.r - b.r || (b.t ?? Infinity) - (a.t ?? Infinity) || 0);
  return tightest === undefined
    ? null
    : { policy: tightest.name, remaining: tightest.r, resetSeconds: tightest.t ?? null };
}

const NOT_JSON = Symbol("not JSON");

/** A number that a double would round, in an engine that cannot keep it otherwise. */
const INEXACT = Symbol("inexact");

function parseAnswer(text: string): Json | undefined | typeof NOT_JSON | typeof INEXACT {
  if (text === "") return undefined;
  const scan = scanJson(text);
  try {
    if (scan.held || keepsNumbers()) return parseJsonValues(text, scan);
    JSON.parse(text);
    return INEXACT;
  } catch {
    return NOT_JSON;
  }
}

function isProblem(headers: Answer["headers"]): boolean {
  return /^application\/problem\+json\s*(?:;|$)/i.test(headers.get("Content-Type") ?? "");
}

function isCode(code: Json | undefined): code is ProblemCode {
  return CODES.has(code);
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function fieldFaults(value: Json | undefined): FieldFault[] {
  const listed = Array.isArray(value) ? value.filter(isJsonObject) : [];
  return listed.flatMap(({ path, message }) =>
    typeof path === "string" && typeof message === "string" ? [{ path, message }] : [],
  );
}
