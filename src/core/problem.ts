/**
 * Everything that can be said instead of yes: one tagged union, made by the steps of a request as plain data, and one
 * table of what each means on the wire. Bodies and headers are made from it in `http/problem.ts`.
 */

/** One field of a request that is wrong. `path` is dotted, as a caller would write it: `payload.tasks.0.type`. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

export type Problem =
  | { readonly code: "invalid_request"; readonly detail: string; readonly errors?: readonly FieldFault[] }
  | { readonly code: "unauthenticated"; readonly detail: string }
  | { readonly code: "forbidden"; readonly detail: string }
  | { readonly code: "not_found"; readonly detail: string }
  | { readonly code: "conflict"; readonly detail: string }
  /** There is something here, for other methods. */
  | { readonly code: "method_not_allowed"; readonly detail: string; readonly allowed: readonly string[] }
  | { readonly code: "payload_too_large"; readonly detail: string }
  /** The body has a `Content-Encoding`. */
  | { readonly code: "unsupported_media_type"; readonly detail: string }
  | {
      readonly code: "rate_limited";
      readonly detail: string;
      readonly violated: readonly string[];
      readonly retryAfterSeconds: number;
    }
  | { readonly code: "idempotency_in_flight"; readonly detail: string; readonly retryAfterSeconds: number }
  | { readonly code: "idempotency_conflict"; readonly detail: string }
  | { readonly code: "cost_exceeds_capacity"; readonly detail: string; readonly violated: readonly string[] }
  | { readonly code: OverloadCode; readonly detail: string; readonly retryAfterSeconds: number }
  | {
      readonly code: "unavailable";
      readonly detail: string;
      readonly retryAfterSeconds: number;
      /** Of a change that not every partition of the engine has confirmed: their numbers, from 1. */
      readonly partitions?: { readonly confirmed: readonly number[]; readonly unconfirmed: readonly number[] };
    }
  | { readonly code: "internal" };

export type ProblemCode = Problem["code"];

/** What is said on the engine's own surface only: callers of `/v1` decide by all codes that they can meet. */
export type EngineProblem =
  | { readonly code: "already_exists"; readonly detail: string }
  /** The wait is over. What was asked may still happen, or has. */
  | { readonly code: "deadline_exceeded"; readonly detail: string };

export type AnyProblem = Problem | EngineProblem;
export type AnyProblemCode = AnyProblem["code"];

/** Refusals of layers 2 and 3: everyone has to wait. */
export type OverloadCode = "queue_full" | "request_limit" | "write_limit" | "engine_paused" | "storage_full";

interface Wire {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503 | 504;
  readonly title: string;
  readonly type: string;
}

/** RFC 9457: a problem that says no more than its status. */
const BLANK = "about:blank";
/** The two problem types of draft-ietf-httpapi-ratelimit-headers. */
export const QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded";
export const TEMPORARY_REDUCED_CAPACITY = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";

export const WIRE: Readonly<Record<ProblemCode, Wire>> = {
  invalid_request: { status: 400, title: "Bad Request", type: BLANK },
  unauthenticated: { status: 401, title: "Unauthorized", type: BLANK },
  forbidden: { status: 403, title: "Forbidden", type: BLANK },
  not_found: { status: 404, title: "Not Found", type: BLANK },
  conflict: { status: 409, title: "Conflict", type: BLANK },
  method_not_allowed: { status: 405, title: "Method Not Allowed", type: BLANK },
  payload_too_large: { status: 413, title: "Content Too Large", type: BLANK },
  unsupported_media_type: { status: 415, title: "Unsupported Media Type", type: BLANK },
  rate_limited: { status: 429, title: "Too Many Requests", type: QUOTA_EXCEEDED },
  cost_exceeds_capacity: { status: 422, title: "Unprocessable Content", type: QUOTA_EXCEEDED },
  queue_full: { status: 503, title: "Service Unavailable", type: TEMPORARY_REDUCED_CAPACITY },
  request_limit: { status: 503, title: "Service Unavailable", type: TEMPORARY_REDUCED_CAPACITY },
  write_limit: { status: 503, title: "Service Unavailable", type: TEMPORARY_REDUCED_CAPACITY },
  engine_paused: { status: 503, title: "Service Unavailable", type: TEMPORARY_REDUCED_CAPACITY },
  storage_full: { status: 503, title: "Service Unavailable", type: TEMPORARY_REDUCED_CAPACITY },
  idempotency_in_flight: { status: 409, title: "Conflict", type: BLANK },
  idempotency_conflict: { status: 422, title: "Unprocessable Content", type: BLANK },
  unavailable: { status: 503, title: "Service Unavailable", type: BLANK },
  internal: { status: 500, title: "Internal Server Error", type: BLANK },
};

/** With what is said on the engine's own surface only. */
export const ANY_WIRE: Readonly<Record<AnyProblemCode, Wire>> = {
  ...WIRE,
  already_exists: { status: 409, title: "Conflict", type: BLANK },
  deadline_exceeded: { status: 504, title: "Gateway Timeout", type: BLANK },
};

/**
 * The titles on the engine's own surface (`/v2`): there the title is the name of a status, and clients go by it.
 * `RESOURCE_EXHAUSTED`, and nothing else on a 503, tells them that nothing was done and that a new try is right.
 */
export const ENGINE_TITLES: Readonly<Record<AnyProblemCode, string>> = {
  invalid_request: "INVALID_ARGUMENT",
  unauthenticated: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  not_found: "NOT_FOUND",
  conflict: "INVALID_STATE",
  already_exists: "ALREADY_EXISTS",
  deadline_exceeded: "DEADLINE_EXCEEDED",
  method_not_allowed: "INVALID_ARGUMENT",
  payload_too_large: "INVALID_ARGUMENT",
  unsupported_media_type: "INVALID_ARGUMENT",
  rate_limited: "RESOURCE_EXHAUSTED",
  cost_exceeds_capacity: "INVALID_ARGUMENT",
  queue_full: "RESOURCE_EXHAUSTED",
  request_limit: "RESOURCE_EXHAUSTED",
  write_limit: "RESOURCE_EXHAUSTED",
  engine_paused: "RESOURCE_EXHAUSTED",
  storage_full: "RESOURCE_EXHAUSTED",
  idempotency_in_flight: "INVALID_STATE",
  idempotency_conflict: "INVALID_ARGUMENT",
  unavailable: "RESOURCE_EXHAUSTED",
  internal: "INTERNAL",
};

/** One client of the engine obeys `Retry-After` to the letter and with a call held open: it is never told more, in seconds. */
export const ENGINE_RETRY_AFTER_MAX_SECONDS = 30;
