/**
 * The engine's own REST surface as a table: what a request of a method and a path wants, what it costs its tenant, and
 * whether layers 1 to 3 must let it through. Data, so that a deployment can add rows of its own.
 */

import type { Intent } from "./intents.ts";
import { isPlainSegment } from "./path-segments.ts";

export const ENGINE_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type EngineMethod = (typeof ENGINE_METHODS)[number];

interface RouteBase {
  readonly method: EngineMethod;
  /** With parameters in braces, each one segment: `/v2/jobs/{jobKey}`. */
  readonly path: string;
  /** Tokens of its tenant's limits. */
  readonly cost: number;
  /** Never refused by layers 1 to 3. */
  readonly critical: boolean;
  /** Sent twice it does no more than sent once, so that a caller who knows of no answer may send it again. */
  readonly repeatable: boolean;
  /** Held open by the engine until there is something to tell: it takes no place in the queue. */
  readonly held: boolean;
}

/** It wants something of the queue. */
export type CommandRoute = RouteBase & { readonly intent: string };
/** It only reads, and waits in no queue. */
export type ReadRoute = RouteBase & { readonly intent: null };
export type EngineRoute = CommandRoute | ReadRoute;

type Flags = Partial<Pick<RouteBase, "critical" | "repeatable" | "held">>;

function base(method: EngineMethod, path: string, { critical = false, repeatable = false, held = false }: Flags) {
  return { method, path, cost: 1, critical, repeatable, held };
}

function read(method: EngineMethod, path: string): ReadRoute {
  return { ...base(method, path, { repeatable: true }), intent: null };
}

function command(method: EngineMethod, path: string, intent: Intent, flags: Flags): CommandRoute {
  return { ...base(method, path, flags), intent };
}

const relief: Flags = { critical: true, repeatable: true };

/** What the embedded engine serves, and what is known of a cluster without being told. */
export const ENGINE_ROUTES = {
  topology: read("GET", "/v2/topology"),
  status: read("GET", "/v2/status"),
  license: read("GET", "/v2/license"),
  deploy: command("POST", "/v2/deployments", "DEPLOYMENT:CREATE", relief),
  create: command("POST", "/v2/process-instances", "PROCESS_INSTANCE:CREATE", {}),
  cancel: command("POST", "/v2/process-instances/{processInstanceKey}/cancellation", "PROCESS_INSTANCE:CANCEL", relief),
  activate: command("POST", "/v2/jobs/activation", "JOB:ACTIVATE", { held: true }),
  complete: command("POST", "/v2/jobs/{jobKey}/completion", "JOB:COMPLETE", relief),
  // Without a number of its own a second failure would cost the job another try.
  fail: command("POST", "/v2/jobs/{jobKey}/failure", "JOB:FAIL", { critical: true }),
  throwError: command("POST", "/v2/jobs/{jobKey}/error", "JOB:THROW_ERROR", relief),
  update: command("PATCH", "/v2/jobs/{jobKey}", "JOB:UPDATE", relief),
  resolve: command("POST", "/v2/incidents/{incidentKey}/resolution", "INCIDENT:RESOLVE", relief),
  searchInstances: read("POST", "/v2/process-instances/search"),
  searchIncidents: read("POST", "/v2/incidents/search"),
  searchJobs: read("POST", "/v2/jobs/search"),
} as const satisfies Record<string, EngineRoute>;

/**
 * The row of a request; null when the table has none. What is not asked for by name comes last, so that a deployment's
 * own rows go before ours.
 *
 * @param path without a query
 */
export function routeFor(routes: readonly EngineRoute[], method: string, path: string): EngineRoute | null {
  const segments = path.split("/");
  return routes.find((route) => route.method === method && fits(route.path.split("/"), segments)) ?? null;
}

/** A name in braces fits any one segment that is not empty. */
function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, n) => part === segments[n] || (/^\{.*\}$/.test(part) && segments[n] !== ""))
  );
}

/**
 * Whether every server reads a path of the surface as the same segments. A server behind us may decode a segment, even
 * twice, and may cut off what follows a semicolon: none of that may lead out of the surface, where our credential would
 * open what is not for our callers.
 *
 * @param path as it came, percent-encoded, without a query
 */
export function isPlainPath(path: string): boolean {
  const [first, surface, ...segments] = path.split("/");
  return first === "" && surface === "v2" && segments.length > 0 && segments.every(isPlainSegment);
}

/** Whether a request that no row names only reads, by the custom of this surface. */
export function readsByCustom(method: string, path: string): boolean {
  return method === "GET" || (method === "POST" && /\/(search|statistics)$/.test(path));
}

/** What such a request costs. */
export const READ_COST = 1;
