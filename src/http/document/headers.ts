import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "../app-env.ts";
import type { AnswerHeader } from "./docs.ts";

/** The headers of answers, as parts of the API document that its routes refer to. */

export type Registry = OpenAPIHono<AppEnv>["openAPIRegistry"];

export type EveryHeader = AnswerHeader | RateHeader | "X-Request-Id" | "Retry-After" | "WWW-Authenticate";
type RateHeader = (typeof RATE_HEADERS)[number];

/** What limited answers say of their limits. */
export const RATE_HEADERS = [
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
] as const;

type Header = {
  readonly description: string;
  readonly required?: true;
  readonly schema: { readonly type: "string" | "integer"; readonly minimum?: number };
  readonly example: string | number;
};

const text = { type: "string" } as const;
const HEADERS: Readonly<Record<EveryHeader, Header>> = {
  "X-Request-Id": {
    description: "Names the request in the logs. A caller's own is kept: up to 128 letters, digits, `.`, `_` and `-`.",
    required: true,
    schema: text,
    example: "2ad25340-e269-42e7-867e-0dfb39ab1f55",
  },
  "RateLimit-Policy": {
    description: "The caller's limits: quota `q`, and the seconds `w` in which it comes back.",
    schema: text,
    example: '"requests";q=200;w=2',
  },
  RateLimit: {
    description:
      "What is left of each: `r`, and the seconds `t` until all of it is there again; of a limit that refused, until this cost fits it.",
    schema: text,
    example: '"requests";r=199;t=1',
  },
  "X-RateLimit-Limit": {
    description: "The quota of the limit of which least is left.",
    schema: { type: "integer", minimum: 0 },
    example: 200,
  },
  "X-RateLimit-Remaining": {
    description: "What is left of it.",
    schema: { type: "integer", minimum: 0 },
    example: 199,
  },
  "X-RateLimit-Reset": {
    description: "When all of it is there again, in Unix seconds.",
    schema: { type: "integer", minimum: 0 },
    example: 1_796_037_239,
  },
  "Retry-After": {
    description: "When a new try makes sense, in whole seconds.",
    schema: { type: "integer", minimum: 1 },
    example: 10,
  },
  "WWW-Authenticate": { description: "How to authenticate.", schema: text, example: 'Bearer realm="headgate"' },
  Location: { description: "Where the command is.", schema: text, example: "/v1/commands/1179603723715811" },
  "Preference-Applied": { description: "The wait that was granted.", schema: text, example: "wait=5" },
  "Idempotency-Replayed": {
    description: "`true`: the answer of an earlier request under the same `Idempotency-Key`.",
    schema: text,
    example: "true",
  },
  "Cache-Control": { description: "How long the answer may be kept.", schema: text, example: "no-store" },
  ETag: { description: "Names this version of the answer.", schema: text, example: '"5f2c9a"' },
  "X-Headgate-Degraded": {
    description: "`limiter`: the caller's limits could not be asked, and the request was let through.",
    schema: text,
    example: "limiter",
  },
};

/** The names of all headers that answers are documented with. */
export const ANSWER_HEADERS: readonly string[] = Object.keys(HEADERS);

/** Puts what all routes refer to into the document. */
export function registerHeaders(registry: Registry): void {
  for (const [name, header] of Object.entries(HEADERS)) registry.registerComponent("headers", name, header);
}

/** Headers of an answer, as references. */
export function headersNamed(names: readonly EveryHeader[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
