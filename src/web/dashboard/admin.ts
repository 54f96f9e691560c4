import type { FieldFault } from "../../core/problem.ts";

/** Asking the admin routes. Whatever happens is an answer; nothing is thrown and nothing is tried a second time. */

export type Answer<T> = { readonly kind: "ok"; readonly status: number; readonly body: T } | Fault;

export type Fault =
  /** Headgate said no, or what stands in front of it did. */
  | {
      readonly kind: "problem";
      readonly status: number;
      readonly code: string;
      readonly detail: string;
      readonly errors: readonly FieldFault[];
      readonly retryAfterSeconds: number | null;
    }
  /** No answer, or none in time. */
  | { readonly kind: "unreachable" };

/** Longer than any admin route takes; a change of a tier tells hundreds of objects before it is answered. */
const ANSWER_MS_MAX = 20_000;

export type Method = "GET" | "PUT" | "POST" | "PATCH" | "DELETE";

/** Asks as the holder of a token. The token goes into a header, never into an address. */
export async function askAdmin<T>(token: string, method: Method, path: string, body?: unknown): Promise<Answer<T>> {
  try {
    const response = await fetch(path, {
      method,
      headers: { Authorization: `Bearer ${token}`, Accept: "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const text = await response.text();
    if (!response.ok) return problemOf(response, text);
    // The shape is the route's own schema; a browser test reads every one of them.
    return { kind: "ok", status: response.status, body: (text === "" ? null : readValue(text)) as T };
  } catch {
    return { kind: "unreachable" };
  }
}

const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown };

/** Numbers as they were written where the browser can keep them; where it cannot, rounded as browsers do. */
function readValue(text: string): unknown {
  return JSON.parse(text, (_member, value, context?: { readonly source?: string }) => {
    const source = typeof value === "number" ? context?.source : undefined;
    return source === undefined || source === String(value) ? value : (rawJSON?.(source) ?? value);
  });
}

function problemOf({ status, headers }: Response, text: string): Fault {
  const retryAfter = Number(headers.get("Retry-After"));
  const told: unknown = parsed(text);
  const said = typeof told === "object" && told !== null ? told : {};
  return {
    kind: "problem",
    status,
    code: "code" in said ? String(said.code) : "unknown",
    detail: "detail" in said ? String(said.detail) : `The answer was ${status}, without an explanation.`,
    errors: "errors" in said && Array.isArray(said.errors) ? said.errors : [],
    retryAfterSeconds: retryAfter > 0 ? retryAfter : null,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A fault in words for a person, with what to do. Faults of single fields are shown at their fields. */
export function inWords(fault: Fault): string {
  if (fault.kind === "unreachable")
    return "No answer. Check your connection, and whether /healthz answers; then try again.";
  const { status, detail, retryAfterSeconds } = fault;
  const later = retryAfterSeconds === null ? "" : ` Try again in ${retryAfterSeconds} s.`;
  if (status === 403) return "This token may only look. Sign in with the admin token to change things.";
  return `${detail}${later}`;
}
