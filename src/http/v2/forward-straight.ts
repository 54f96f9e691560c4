import type { Context } from "hono";
import type { Config } from "../../config.ts";
import type { CommandRoute } from "../../core/engine-routes.ts";
import { partitionOf } from "../../core/partition.ts";
import type { Problem } from "../../core/problem.ts";
import { ownerHeader, wholeUrl } from "../../executor/upstream/whole.ts";
import { callerKey } from "../../identity/caller.ts";
import type { AppEnv } from "../app-env.ts";
import { gated, refuseAtEdge } from "../edge.ts";
import { refuseOverLimit } from "../middleware/tenant-limit.ts";
import { problem } from "../problem.ts";

/** What goes to the cluster past the queue, behind the tenant's limit: reads, and what the cluster holds open itself. */

/** The longest that the cluster may hold something open. */
const HELD_MS_MAX = 600_000;
/** Held open by this isolate at once: each is two open connections. */
const HELD_MAX = 1_000;
/** Plain data of this isolate. */
let held = 0;

export function forwardRead(c: Context<AppEnv>, config: Config, path: string, body: string): Promise<Response> {
  return ask(
    c,
    config,
    path,
    body,
    AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(config.UPSTREAM_TIMEOUT_MS)]),
  );
}

/**
 * Layers 1 and 2, and then no place: its caller waits at the cluster.
 *
 * @param gone aborts when the caller goes: the call at the cluster is then given up
 */
export async function forwardHeld(
  c: Context<AppEnv>,
  config: Config,
  { cost, critical }: CommandRoute,
  path: string,
  body: string,
  gone: AbortSignal,
): Promise<Response> {
  const tenant = callerKey(c.var.caller);
  const asker = { tenant, weight: c.var.caller.weight };
  const partition = partitionOf(tenant, config.ENGINE_PARTITIONS);
  const atEdge = critical ? null : gated(partition, tenant, false, Date.now());
  const limited = await refuseOverLimit(c, config, { cost, critical, judgeOnly: atEdge !== null });
  if (limited instanceof Response) return limited;
  if (atEdge !== null) return problem(c, refuseAtEdge(partition, asker, atEdge, Date.now()));
  if (held >= HELD_MAX) return problem(c, TOO_MANY);
  held += 1;
  try {
    return await ask(c, config, path, body, AbortSignal.any([gone, AbortSignal.timeout(HELD_MS_MAX)]));
  } finally {
    held -= 1;
  }
}

async function ask(
  c: Context<AppEnv>,
  config: Config,
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const { method } = c.req;
  const headers = new Headers();
  for (const name of ["accept", "content-type", ...config.UPSTREAM_FORWARD_HEADERS]) {
    const value = c.req.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  headers.set(...ownerHeader(callerKey(c.var.caller)));
  if (config.UPSTREAM_AUTHORIZATION !== "") headers.set("Authorization", config.UPSTREAM_AUTHORIZATION);
  const init = { method, headers, redirect: "manual", signal, body: method === "GET" ? null : body } as const;
  try {
    const answer = await fetch(new Request(wholeUrl(config.UPSTREAM_URL, path), init));
    const type = answer.headers.get("Content-Type");
    const again = answer.headers.get("Retry-After");
    if (type !== null) c.header("Content-Type", type);
    if (again !== null) c.header("Retry-After", again);
    return new Response(answer.body, { status: answer.status, headers: c.res.headers });
  } catch (error) {
    console.warn(JSON.stringify({ event: "upstream_unreachable", requestId: c.var.requestId, error: String(error) }));
    return problem(c, UNREACHABLE);
  }
}

const UNREACHABLE: Problem = {
  code: "unavailable",
  detail: "The cluster does not answer.",
  retryAfterSeconds: 5,
};
const TOO_MANY: Problem = {
  code: "queue_full",
  detail: "As many calls are held open here as can be. Everyone has to wait.",
  retryAfterSeconds: 5,
};
