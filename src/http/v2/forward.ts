import type { Context } from "hono";
import type { Config } from "../../config.ts";
import type { CommandView } from "../../core/command.ts";
import {
  type CommandRoute,
  type EngineRoute,
  isPlainPath,
  READ_COST,
  readsByCustom,
  routeFor,
} from "../../core/engine-routes.ts";
import { isJsonObject, type Json, objectOf } from "../../core/json.ts";
import type { AnyProblem } from "../../core/problem.ts";
import { wholeHeaders, wholePayload } from "../../executor/upstream/whole.ts";
import type { AppEnv } from "../app-env.ts";
import { badBody, decodeUtf8, type Read, readBytes, refuse } from "../body.ts";
import { sendCommand } from "../command-door.ts";
import type { Api } from "../endpoint.ts";
import { refuseFaulty } from "../middleware/limit-caller.ts";
import { refuseOverLimit } from "../middleware/tenant-limit.ts";
import { problem } from "../problem.ts";
import { forwardHeld, forwardRead } from "./forward-straight.ts";
import { forwardedShapes } from "./forwarded-shapes.ts";
import { heldAnswer, NO_JOBS } from "./held-answer.ts";
import { COMMAND_WAIT_MS, endOfSent } from "./run-command.ts";

/**
 * `/v2` in front of a cluster of one's own: commands go through the queue and their callers get what the cluster
 * answers; reads go straight to it, behind the tenant's limit; what the cluster itself holds open is held at the cluster,
 * and takes no place here.
 */
export function registerForward(api: Api, config: Config): void {
  api.app.all("/v2/*", (c) => forward(c, api, config));
  api.app.all("/t/:tenant/v2/*", (c) => forward(c, api, config));
  api.shapes.push(...forwardedShapes(config.V2_ROUTES.routes));
}

async function forward(c: Context<AppEnv>, api: Api, config: Config): Promise<Response> {
  const flooding = refuseFaulty(c);
  if (flooding !== null) return flooding;
  const { pathname, search } = new URL(c.req.url);
  const at = pathname.replace(/^\/t\/[^/]+/, "");
  if (!isPlainPath(at)) return problem(c, NOT_PLAIN);
  const { method } = c.req;
  const route = routeFor(config.V2_ROUTES.routes, method, at);
  if (route === null && !readsByCustom(method, at)) return problem(c, notInTable(method, at));
  const body = await readText(c.req.raw, api.bodyBytesMax);
  if (!body.ok) return problem(c, body.problem);
  const path = at + search;
  if (route === null || route.intent === null) {
    const limited = await refuseOverLimit(c, config, { cost: route?.cost ?? READ_COST, critical: false });
    return limited instanceof Response ? limited : await forwardRead(c, config, path, body.value);
  }
  const straight = { path, body: body.value, again: route.repeatable, gone: c.req.raw.signal, waitMs: HELD_MS_MAX };
  if (route.intent === "JOB:ACTIVATE") {
    // A job of the cluster's must go to nobody who has gone. A poll that came to nothing is simply asked again.
    return await heldAnswer(c, NO_JOBS, (gone) => forwardHeld(c, config, route, { ...straight, gone, again: true }));
  }
  const awaitedMs = awaitedFor(route, body.value);
  if (awaitedMs !== null) {
    const waitMs = Math.min(HELD_MS_MAX, awaitedMs + ON_THE_WAY_MS);
    return await forwardHeld(c, config, route, { ...straight, waitMs });
  }
  if (route.held) return await forwardHeld(c, config, route, straight);
  return await forwardCommand(c, config, route, path, body.value);
}

/** Through the queue, with its method, path and body as they are. */
async function forwardCommand(
  c: Context<AppEnv>,
  config: Config,
  route: CommandRoute,
  path: string,
  body: string,
): Promise<Response> {
  const { intent, cost, critical, repeatable } = route;
  const { method } = c.req;
  const headers = wholeHeaders({ method, path, repeatable }, c.req.header("Content-Type") ?? "");
  const deadlineMs = critical ? null : COMMAND_WAIT_MS;
  const said = { method, path, body };
  const payload = wholePayload(body);
  const command = { intent, payload, deadlineMs, waitMs: COMMAND_WAIT_MS, cost, said, headers };
  const ended = await endOfSent(c, config, route, await sendCommand(c, config, command));
  return ended instanceof Response ? ended : asAnswered(c, ended);
}

/** What the cluster said, with the status that it said it with; or what is known where it said nothing. */
function asAnswered(c: Context<AppEnv>, command: CommandView): Response {
  const { status, contentType, body, omitted } = command.result === undefined ? {} : objectOf(command.result);
  if (typeof status !== "number" || typeof body !== "string") return problem(c, nothingKept(command, omitted));
  const type = typeof contentType === "string" && contentType !== "" ? contentType : null;
  return new Response(BODILESS.has(status) ? null : body, {
    status,
    headers: { ...Object.fromEntries(c.res.headers), ...(type === null ? {} : { "Content-Type": type }) },
  });
}

/** The longest that the cluster may hold something open. */
const HELD_MS_MAX = 600_000;
/** So long an answer may be on its way that the cluster gave at the last moment. */
const ON_THE_WAY_MS = 5_000;
/** Statuses whose answers have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

function nothingKept({ commandId, error }: CommandView, omitted: Json | undefined): AnyProblem {
  const why = error?.message ?? String(omitted);
  return {
    code: "deadline_exceeded",
    detail: `What became of command ${commandId} at the cluster is not known: ${why}.`,
  };
}

/**
 * How long an instance is awaited, in milliseconds; null: the request awaits none. One that is awaited would keep its
 * place in the queue from the very commands that end it. That its caller has gone shows only if the connection is
 * reset (blanks, as for polls, would say a status too early), so it is held no longer than the caller says it waits.
 */
function awaitedFor(route: EngineRoute, body: string): number | null {
  if (route.intent !== "PROCESS_INSTANCE:CREATE") return null;
  try {
    const asked: unknown = JSON.parse(body);
    if (!isJsonObject(asked) || asked.awaitCompletion !== true) return null;
    const wanted = Number(asked.requestTimeout ?? 0);
    // Who does not say leaves it to the cluster, which is given the time of a command.
    return wanted > 0 ? wanted : COMMAND_WAIT_MS;
  } catch {
    return null;
  }
}

async function readText(request: Request, bytesMax: number): Promise<Read<string>> {
  const read = await readBytes(request, bytesMax);
  if (!read.ok) return read;
  const text = decodeUtf8(read.value);
  return text === null ? refuse(badBody("the body is not UTF-8")) : { ok: true, value: text };
}

const NOT_PLAIN: AnyProblem = {
  code: "invalid_request",
  detail: "The path has a segment that is empty, or stands for more or less than one segment.",
  errors: [{ path: "path", message: "must be segments of plain text under /v2" }],
};

function notInTable(method: string, path: string): AnyProblem {
  const detail = `${method} ${path} is no route that this deployment knows. An operator can add it to V2_ROUTES.`;
  return { code: "not_found", detail: detail.slice(0, 300) };
}
