import type { Context } from "hono";
import type { Config } from "../../config.ts";
import type { CommandRoute } from "../../core/engine-routes.ts";
import { partitionOf } from "../../core/partition.ts";
import { type AnyProblem, ENGINE_RETRY_AFTER_MAX_SECONDS } from "../../core/problem.ts";
import { parseRetryAfter } from "../../core/retry-after.ts";
import { ownerHeader, wholeUrl } from "../../executor/upstream/whole.ts";
import { callerKey } from "../../identity/caller.ts";
import type { AppEnv } from "../app-env.ts";
import { closedTo, refuseAtEdge } from "../edge.ts";
import { finishAnyway } from "../hang-up.ts";
import { refuseOverLimit } from "../middleware/tenant-limit.ts";
import { problem } from "../problem.ts";
import { takeHeldPlace } from "./held-places.ts";
import { keepStart } from "./keep-start.ts";

/** What goes to the cluster past the queue, behind the tenant's limit: reads, and what the cluster holds open itself. */

/** A request as the cluster is to get it. */
export interface Straight {
  readonly path: string;
  readonly body: string;
  /** The longest that the cluster may take, in milliseconds. */
  readonly waitMs: number;
  /** Aborts when the caller goes: the call at the cluster is then given up. */
  readonly gone: AbortSignal;
  /** Asked twice it does no more than once. */
  readonly again: boolean;
}

export function forwardRead(c: Context<AppEnv>, config: Config, path: string, body: string): Promise<Response> {
  return ask(c, config, { path, body, waitMs: config.UPSTREAM_TIMEOUT_MS, gone: c.req.raw.signal, again: true });
}

/**
 * Layers 1 and 2, and then no place in the queue: its caller waits at the cluster. The engine never hears of such a
 * call, so it takes no pass of the gate: nothing would ever give that back.
 */
export async function forwardHeld(
  c: Context<AppEnv>,
  config: Config,
  { cost, critical }: CommandRoute,
  straight: Straight,
): Promise<Response> {
  const tenant = callerKey(c.get("caller"));
  const asker = { tenant, weight: c.get("caller").weight };
  const partition = partitionOf(tenant, config.ENGINE_PARTITIONS);
  const atEdge = critical ? null : closedTo(partition, tenant, Date.now());
  const limited = await refuseOverLimit(c, config, { cost, critical, judgeOnly: atEdge !== null });
  if (limited instanceof Response) return limited;
  if (atEdge !== null) return problem(c, refuseAtEdge(partition, asker, atEdge, Date.now()));
  const place = takeHeldPlace(tenant);
  if ("code" in place) return problem(c, place);
  return await finishAnyway(c, ask(c, config, straight).finally(place.giveBack));
}

async function ask(c: Context<AppEnv>, config: Config, straight: Straight): Promise<Response> {
  const { path, waitMs, gone, again } = straight;
  const { method } = c.req;
  const signal = AbortSignal.any([gone, AbortSignal.timeout(waitMs)]);
  const body = method === "GET" ? null : straight.body;
  const init = { method, headers: headersFor(c, config), redirect: "manual", signal, body } as const;
  try {
    const answer = await fetch(new Request(wholeUrl(config.UPSTREAM_URL, path), init));
    // A status that has gone out cannot be taken back, and what breaks off after it is sent again by clients.
    const said = again ? answer.body : await keepStart(answer.body, config.UPSTREAM_RESPONSE_BYTES_MAX);
    const type = answer.headers.get("Content-Type");
    const comeBack = retryAfterFor(answer.headers);
    if (type !== null) c.header("Content-Type", type);
    if (comeBack !== null) c.header("Retry-After", comeBack);
    return new Response(said, { status: answer.status, headers: c.res.headers });
  } catch (error) {
    console.warn(
      JSON.stringify({ event: "upstream_unreachable", requestId: c.get("requestId"), error: String(error) }),
    );
    return problem(c, again ? UNREACHABLE : UNKNOWN_FATE);
  }
}

function headersFor(c: Context<AppEnv>, config: Config): Headers {
  const headers = new Headers();
  for (const name of ["accept", "content-type", ...config.UPSTREAM_FORWARD_HEADERS]) {
    const value = c.req.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  headers.set(...ownerHeader(callerKey(c.get("caller"))));
  if (config.UPSTREAM_AUTHORIZATION !== "") headers.set("Authorization", config.UPSTREAM_AUTHORIZATION);
  return headers;
}

/** As long as the cluster says, and no longer than any answer of this surface says; null where it says nothing. */
function retryAfterFor(headers: Headers): string | null {
  const ms = parseRetryAfter(headers.get("Retry-After"), Date.now());
  return ms === null ? null : String(Math.min(ENGINE_RETRY_AFTER_MAX_SECONDS, Math.ceil(ms / 1000)));
}

const UNREACHABLE: AnyProblem = {
  code: "unavailable",
  detail: "The cluster does not answer.",
  retryAfterSeconds: 5,
};
/** No refusal to send again: clients do so by themselves, and it would be done twice. */
const UNKNOWN_FATE: AnyProblem = {
  code: "deadline_exceeded",
  detail: "The cluster has not answered, or broke off. Whether it has done what was asked is not known.",
};
