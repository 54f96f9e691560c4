import type { Fault } from "./result.ts";
import type { Outcome } from "./retry.ts";

/**
 * What a failed try means for a repeat: the one place where codes and statuses are told apart.
 *
 * Only Headgate's own word counts as "nothing was done". A 503 of a proxy on the way may come after the request was
 * passed on, so it leaves that open; a 429 never is.
 */

/** An answer that leaves open what was done. 520 to 530 are Cloudflare's numbers for an origin that failed. */
function isDoubtful(status: number): boolean {
  return [500, 502, 503, 504].includes(status) || (status >= 520 && status <= 530);
}

/** What came of a try that ended with this fault. */
export function outcomeOf(fault: Fault): Outcome {
  switch (fault.code) {
    case "aborted":
    case "headers_failed":
      return { kind: "final" };
    case "network":
    case "timeout":
      return { kind: "doubtful", retryAfterMs: null };
    case "unexpected_answer":
    case "unknown_problem":
      return outcomeOfStatus(fault.status, false, fault.retryAfterSeconds);
    case "idempotency_in_flight":
      // The key's first request is at work; the repeat did nothing.
      return outcomeOfStatus(fault.status, fault.status === 409, fault.retryAfterSeconds);
    default:
      return outcomeOfStatus(fault.status, fault.status === 503, fault.retryAfterSeconds);
  }
}

function outcomeOfStatus(status: number, refused: boolean, retryAfterSeconds: number | null): Outcome {
  const retryAfterMs = retryAfterSeconds === null ? null : retryAfterSeconds * 1000;
  if (refused || status === 429) return { kind: "refused", retryAfterMs };
  return isDoubtful(status) ? { kind: "doubtful", retryAfterMs } : { kind: "final" };
}
