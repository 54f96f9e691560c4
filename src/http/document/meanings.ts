import type { AnyProblem, AnyProblemCode } from "../../core/problem.ts";

/** What the API document says of each code: what it means to its caller, and a problem of that kind. */

export const MEANINGS: Readonly<Record<AnyProblemCode, { readonly meaning: string; readonly like: AnyProblem }>> = {
  invalid_request: {
    meaning: "a field is missing, unknown or wrong; `errors` names each",
    like: {
      code: "invalid_request",
      detail: "The body is not valid: intent: is required.",
      errors: [{ path: "intent", message: "is required" }],
    },
  },
  unauthenticated: {
    meaning: "no credential, or one that is not known; the try is charged to the caller's address",
    like: { code: "unauthenticated", detail: "The request carries no credential." },
  },
  forbidden: {
    meaning: "known, and not allowed to do this",
    like: { code: "forbidden", detail: "The tenant is suspended." },
  },
  not_found: {
    meaning: "there is no such thing of the caller's",
    like: { code: "not_found", detail: "There is no such tier." },
  },
  conflict: {
    meaning: "its state does not allow it",
    like: { code: "conflict", detail: "The command is no longer queued: it runs or has ended." },
  },
  already_exists: {
    meaning: "an active instance has this business id",
    like: { code: "already_exists", detail: "An active instance has the business id order-7." },
  },
  method_not_allowed: {
    meaning: "there is something here, for the methods that `Allow` names",
    like: {
      code: "method_not_allowed",
      detail: "There is no PUT /v1/queue here.",
      allowed: ["GET", "HEAD", "OPTIONS"],
    },
  },
  payload_too_large: {
    meaning: "the body is longer than `BODY_BYTES_MAX`",
    like: { code: "payload_too_large", detail: "The body may have at most 262144 bytes." },
  },
  unsupported_media_type: {
    meaning: "the body has a `Content-Encoding`; it is taken only as it is",
    like: {
      code: "unsupported_media_type",
      detail: 'The body has the Content-Encoding "gzip". Send it as it is.',
    },
  },
  rate_limited: {
    meaning: "the caller has used up a limit of its own",
    like: {
      code: "rate_limited",
      detail: 'You have used up the limit "requests". A request of cost 1 fits in 10 s.',
      violated: ["requests"],
      retryAfterSeconds: 10,
    },
  },
  cost_exceeds_capacity: {
    meaning: "this cost can never fit under the caller's limits; waiting does not help, and nothing was charged",
    like: {
      code: "cost_exceeds_capacity",
      detail: 'A cost of 1 can never fit under the limit "requests". Waiting does not help.',
      violated: ["requests"],
    },
  },
  queue_full: {
    meaning: "the engine has no room; everyone has to wait, and nothing was charged",
    like: { code: "queue_full", detail: "The command queue is full. Everyone has to wait.", retryAfterSeconds: 12 },
  },
  request_limit: {
    meaning: "as many commands are in flight as the engine bears",
    like: {
      code: "request_limit",
      detail: "The engine works on as many commands as it bears. Everyone has to wait.",
      retryAfterSeconds: 1,
    },
  },
  write_limit: {
    meaning: "the engine takes no more writes this second",
    like: {
      code: "write_limit",
      detail: "The engine takes no more commands this second. Everyone has to wait.",
      retryAfterSeconds: 1,
    },
  },
  engine_paused: {
    meaning: "an operator has paused the engine, and it takes no commands",
    like: {
      code: "engine_paused",
      detail: "An operator has paused the engine, and it takes no commands.",
      retryAfterSeconds: 30,
    },
  },
  storage_full: {
    meaning: "an engine's disk is short of space; critical commands are still taken, and nothing was charged",
    like: {
      code: "storage_full",
      detail: "The engine's disk is short of space (STORAGE_BYTES_MAX). Only critical commands are taken.",
      retryAfterSeconds: 30,
    },
  },
  idempotency_in_flight: {
    meaning: "the first request under this key is still held open",
    like: {
      code: "idempotency_in_flight",
      detail: "A request with this Idempotency-Key is under way.",
      retryAfterSeconds: 1,
    },
  },
  idempotency_conflict: {
    meaning: "this key was used for another request",
    like: { code: "idempotency_conflict", detail: "This Idempotency-Key was used for another request." },
  },
  unavailable: {
    meaning: "a part behind the gateway does not answer; nothing was changed, unless the detail says so",
    like: { code: "unavailable", detail: "The database does not answer. Nothing was changed.", retryAfterSeconds: 5 },
  },
  deadline_exceeded: {
    meaning: "the wait is over, and what was asked may still happen, or has",
    like: {
      code: "deadline_exceeded",
      detail: "Command 1179603723715811 is accepted and is under way. It will end without being sent again.",
    },
  },
  internal: { meaning: "a bug; the request id names it in the logs", like: { code: "internal" } },
};
