import type { AnyProblemCode } from "../../core/problem.ts";

/** What a route tells the API document besides its schemas: its name, its refusals, and examples of its use. */

/** Whose credential a route takes. `open`: it needs none, and an operator's shows more. */
export type Access = "none" | "tenant" | "admin" | "client" | "open";

/** Headers of answers that are documented, by the names of their components. */
export type AnswerHeader =
  | "Location"
  | "Preference-Applied"
  | "Idempotency-Replayed"
  | "Cache-Control"
  | "ETag"
  | "X-Headgate-Degraded";

/** One request and what it is answered. What the document shows is sent to the real Worker in a test. */
export interface Example {
  /** One line of what it shows. */
  readonly summary: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  /** Absent where the answer has no body. */
  readonly answer?: unknown;
}

export interface Docs {
  /** Unique in the document: generated clients name their functions by it. */
  readonly operationId: string;
  /** Where the path does not say it: see {@link accessOf}. */
  readonly access?: Access;
  /** What cannot be seen from the summary, in a sentence or two. */
  readonly description?: string;
  /** Its answers say what is left of its caller's limits: it only tells of them, or refuses those who are over them. */
  readonly limits?: "told" | "refuse";
  /** What may be said instead of yes, besides what a route's credential, parameters and body bring by themselves. */
  readonly problems?: readonly AnyProblemCode[];
  /** Headers of its successes by status. */
  readonly headers?: Readonly<Record<number, readonly AnswerHeader[]>>;
  /** By a name that is unique in the route. */
  readonly examples: Readonly<Record<string, Example>>;
}

/** The middleware goes by the same beginnings of paths. */
export function accessOf(path: string, docs: Pick<Docs, "access">): Access {
  if (docs.access !== undefined) return docs.access;
  if (/^\/(v1|v2)\//.test(path)) return "tenant";
  return path.startsWith("/admin/") ? "admin" : "none";
}

/** What the way to the engine may say before the engine does. */
export const ENGINE_SILENCE = ["unavailable", "storage_full"] as const satisfies readonly AnyProblemCode[];

/** What a command may be told at the door: layers 2 and 3, and its own key. Layer 1 is {@link Docs.limits}. */
export const AT_THE_DOOR = [
  "queue_full",
  "request_limit",
  "write_limit",
  "engine_paused",
  "storage_full",
  "idempotency_in_flight",
  "idempotency_conflict",
] as const satisfies readonly AnyProblemCode[];
