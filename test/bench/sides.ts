import { keyOf, tenants } from "./server.ts";

/** What is measured: each side is one Worker, one kind of request and the answer that it must get. */

export interface Side {
  readonly id: string;
  readonly label: string;
  readonly worker: string;
  readonly connections: number;
  readonly status: number;
  /** What the answer must contain. */
  readonly match: string;
  /** @param round 0 for the warm-up; whoever needs new tenants takes those of the round */
  readonly requests: (round: number) => string[];
  /** Every request once, instead of again and again. */
  readonly once?: boolean;
  /** Many objects fall idle after it, and have something to write then. */
  readonly leavesWork?: boolean;
}

const CONNECTIONS = 32;
/** Tenants that a round of first touches asks about. */
const FIRST_TOUCHES = 200;

/** A whole request. */
export function request(path: string, tenant: string, body: object, headers: readonly string[] = []): string {
  const text = JSON.stringify(body);
  return [
    `POST ${path} HTTP/1.1`,
    "Host: bench",
    `Authorization: Bearer ${keyOf(tenant)}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...headers,
    "",
    text,
  ].join("\r\n");
}

export const check = (tenant: string) => request("/v1/check", tenant, { cost: 1 });
export const create = (tenant: string, headers: readonly string[] = []) =>
  request("/v1/commands", tenant, { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p" } }, headers);

const HOT: Pick<Side, "connections" | "status" | "match" | "requests"> = {
  connections: CONNECTIONS,
  status: 200,
  match: '"allowed":true',
  requests: () => [check("t0")],
};
const THOUSAND = { ...HOT, requests: () => tenants("t", 0, 1_000).map(check) };
const FIRST = {
  ...HOT,
  once: true,
  requests: (round: number) => tenants("fresh", round * FIRST_TOUCHES, FIRST_TOUCHES).map(check),
};
const DONE = {
  ...HOT,
  match: '"state":"succeeded"',
  requests: () => [create("t0", ["Prefer: wait=10"])],
};

export const SIDES: readonly Side[] = [
  { id: "hono", label: "bare Hono route", worker: "bare-hono", ...HOT },
  { id: "headers", label: "bare Hono route with our headers", worker: "bare-headers", ...HOT },
  { id: "object", label: "bare object call", worker: "bare-object", ...HOT },
  { id: "row", label: "bare object call, one row written", worker: "bare-row", ...HOT },
  { id: "exact", label: "our check, exact", worker: "exact", ...HOT },
  { id: "leased", label: "our check, leased", worker: "leased", ...HOT },

  { id: "hono-1000", label: "bare Hono route", worker: "bare-hono", ...THOUSAND },
  { id: "object-1000", label: "bare object calls, one object a tenant", worker: "bare-object", ...THOUSAND },
  { id: "exact-1000", label: "our check, exact", worker: "exact", ...THOUSAND, leavesWork: true },
  { id: "leased-1000", label: "our check, leased", worker: "leased", ...THOUSAND, leavesWork: true },

  { id: "object-first", label: "bare object calls, new objects", worker: "bare-object", ...FIRST },
  { id: "exact-first", label: "our check, exact", worker: "exact", ...FIRST, leavesWork: true },
  { id: "leased-first", label: "our check, leased", worker: "leased", ...FIRST, leavesWork: true },

  {
    id: "check-refused",
    label: "our check, told no",
    worker: "leased",
    ...HOT,
    match: '"allowed":false',
    requests: () => [check("spent0")],
  },
  {
    id: "refused-429",
    label: "our command, 429: over its limit",
    worker: "leased",
    ...HOT,
    status: 429,
    match: "rate_limited",
    requests: () => [create("spent1")],
  },
  {
    id: "refused-503",
    label: "our command, 503: the queue is full",
    worker: "full",
    ...HOT,
    status: 503,
    match: "retryAfterSeconds",
    requests: () => [create("t1")],
  },

  ...[32, 128].flatMap((connections) => [
    { id: `row-${connections}`, label: "one row per request", worker: "bare-row", ...HOT, connections },
    { id: `command-${connections}`, label: "our durable command", worker: "commands", ...DONE, connections },
  ]),

  { id: "store", label: "hono-rate-limiter, store of objects", worker: "peer-store", ...HOT },
  { id: "binding", label: "the platform's rate limit binding, as emulated", worker: "peer-binding", ...HOT },
  { id: "flexible", label: "rate-limiter-flexible, memory", worker: "peer-memory", ...HOT },
];

/** @throws Error when there is no such side */
export function sideOf(id: string): Side {
  const side = SIDES.find((known) => known.id === id);
  if (side === undefined) throw new Error(`there is no side ${id}`);
  return side;
}
