import type { LoadJob } from "./load.ts";
import { keyOf, tenants } from "./server.ts";

/** What is measured: each side is one Worker, one kind of request and the answer that it must get. */

export const SECTIONS = ["check", "refusal", "command", "peers"] as const;
export type Section = (typeof SECTIONS)[number];

export interface Side {
  readonly id: string;
  readonly label: string;
  readonly section: Section;
  /** The table that it stands in. */
  readonly table: string;
  /** The side that its rate is divided by; its own id: it is the measure of its table. */
  readonly against: string;
  readonly worker: string;
  readonly connections: number;
  readonly status: number;
  /** What the answer must contain. */
  readonly match?: string;
  /** @param round 0 for the warm-up; whoever needs new tenants takes those of the round */
  readonly requests: (round: number) => string[];
  /** Every request once, instead of again and again. */
  readonly once?: boolean;
}

const CONNECTIONS = 32;
/** Tenants that a round of first touches asks about. */
const FIRST_TOUCHES = 500;

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

const hot = () => [check("t0")];
const thousand = () => tenants("t", 0, 1_000).map(check);
const freshFrom = (first: number) => (round: number) =>
  tenants("fresh", first + round * FIRST_TOUCHES, FIRST_TOUCHES).map(check);

type Base = Pick<Side, "id" | "label" | "worker"> & Partial<Side>;

function group(section: Section, table: string, shared: Partial<Side>, sides: readonly Base[]): Side[] {
  return sides.map((side) => ({
    section,
    table,
    against: sides[0]?.id ?? side.id,
    connections: CONNECTIONS,
    status: 200,
    match: '"allowed":true',
    requests: hot,
    ...shared,
    ...side,
  }));
}

const DONE: Partial<Side> = { match: '"state":"succeeded"', requests: () => [create("t0", ["Prefer: wait=10"])] };

export const SIDES: readonly Side[] = [
  ...group("check", "Check, one hot tenant", {}, [
    { id: "hono", label: "bare Hono route", worker: "bare-hono" },
    { id: "object", label: "bare object call", worker: "bare-object" },
    { id: "row", label: "bare object call, one row written", worker: "bare-row" },
    { id: "exact", label: "check, exact", worker: "exact", against: "object" },
    { id: "leased", label: "check, leased", worker: "leased" },
  ]),
  ...group("check", "Check, 1 000 tenants in turn", { requests: thousand }, [
    { id: "hono-1000", label: "bare Hono route", worker: "bare-hono" },
    { id: "object-1000", label: "bare object calls, 1 000 objects", worker: "bare-object" },
    { id: "exact-1000", label: "check, exact", worker: "exact", against: "object-1000" },
    { id: "leased-1000", label: "check, leased", worker: "leased" },
  ]),
  ...group("check", "Check, first touch: tenants that nobody has asked about", { once: true }, [
    { id: "object-first", label: "bare object calls, new objects", worker: "bare-object", requests: freshFrom(0) },
    { id: "exact-first", label: "check, exact", worker: "exact", requests: freshFrom(0) },
    { id: "leased-first", label: "check, leased", worker: "leased", requests: freshFrom(0) },
  ]),
  ...group("refusal", "Refusals at the edge", {}, [
    { id: "hono-refusal", label: "bare Hono route", worker: "bare-hono" },
    {
      id: "check-refused",
      label: "check that is told no",
      worker: "leased",
      match: '"allowed":false',
      requests: () => [check("spent0")],
    },
    {
      id: "refused-429",
      label: "command, 429: over its limit",
      worker: "leased",
      status: 429,
      match: "rate_limited",
      requests: () => [create("spent1")],
    },
    {
      id: "refused-503",
      label: "command, 503: the queue is full",
      worker: "full",
      status: 503,
      match: "retryAfterSeconds",
      requests: () => [create("t1")],
    },
  ]),
  ...[32, 128].flatMap((connections) =>
    group("command", `Durable commands, executed and answered, ${connections} connections`, { connections }, [
      { id: `row-${connections}`, label: "one row per request", worker: "bare-row" },
      { id: `command-${connections}`, label: "command", worker: "commands", ...DONE },
    ]),
  ),
  ...group("peers", "Limiters on one hot key", {}, [
    { id: "store", label: "hono-rate-limiter, store of objects", worker: "peer-store" },
    { id: "binding", label: "the platform's rate limit binding (as emulated locally)", worker: "peer-binding" },
    { id: "memory", label: "rate-limiter-flexible, memory", worker: "peer-memory" },
    { id: "peer-exact", label: "check, exact", worker: "exact" },
    { id: "peer-leased", label: "check, leased", worker: "leased" },
  ]),
];

/** @returns the job of one round */
export function jobOf(side: Side, port: number, round: number, seconds: number): LoadJob {
  return {
    port,
    requests: side.requests(round),
    connections: side.connections,
    pace: side.once === true ? { kind: "once" } : { kind: "closed", seconds },
    ...(side.match === undefined ? {} : { match: side.match }),
  };
}
