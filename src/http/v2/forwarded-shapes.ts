import { z } from "@hono/zod-openapi";
import { ENGINE_ROUTES, type EngineRoute } from "../../core/engine-routes.ts";
import { AT_THE_DOOR, type Docs, ENGINE_SILENCE } from "../document/docs.ts";
import type { AnyShape } from "../endpoint.ts";
import { ENGINE } from "../examples/engine.ts";
import { keyHeader, METHODS, withRow } from "./engine-endpoint.ts";

/**
 * The routes of a cluster behind us, as the API document shows them: what each wants of the layers. What is in a body
 * is between the cluster and its clients, and so is what it answers.
 */

/** @param routes of the table, the deployment's own first */
export function forwardedShapes(routes: readonly EngineRoute[]): AnyShape[] {
  const seen = new Set<string>();
  return routes.flatMap((route) => {
    // A deployment's own row goes before ours of the same name, whatever its parameters are called.
    const name = `${route.method} ${route.path.replace(/\{\w+\}/g, "{}")}`;
    if (seen.has(name)) return [];
    seen.add(name);
    return [shapeOf(route)];
  });
}

function shapeOf(route: EngineRoute): AnyShape {
  const { method, path, intent } = route;
  const docs = docsOf(route);
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return {
    method: METHODS[method],
    path,
    alsoAt: `/t/{tenant}${path}`,
    summary: `The cluster's ${method} ${path}`,
    tags: ["engine"],
    ...(names.length === 0 ? {} : { params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }),
    ...(intent === null ? {} : { documentedHeaders: keyHeader }),
    ...(method === "GET" ? {} : bodyOf(route)),
    responses: Object.fromEntries(statusesOf(docs).map((status) => [status, status === 204 ? NOTHING_SAID : SAID])),
    docs: withRow(docs, route),
  };
}

const SAID = { description: "What the cluster answers, with its status", schema: z.unknown() };
const NOTHING_SAID = { description: "Done, as the cluster says" };

function statusesOf({ examples }: Docs): number[] {
  const statuses = Object.values(examples).map(({ status }) => status);
  return statuses.length === 0 ? [200] : [...new Set(statuses)];
}

function bodyOf(route: EngineRoute): Pick<AnyShape, "body" | "bodyAs"> {
  return { body: z.unknown(), ...(route.path === ENGINE_ROUTES.deploy.path ? { bodyAs: "multipart" } : {}) };
}

/** Of a row that is known its name and its examples are too: it is the same surface. */
function docsOf(route: EngineRoute): Docs {
  const known = KNOWN.get(`${route.method} ${route.path}`);
  return {
    operationId: known?.operationId ?? `${route.method.toLowerCase()}${route.path.replace(/[^A-Za-z0-9]+/g, "_")}`,
    limits: route.critical ? "told" : "refuse",
    problems: ["invalid_request", "deadline_exceeded", ...(route.intent === null ? ENGINE_SILENCE : AT_THE_DOOR)],
    examples: known?.examples ?? {},
  };
}

const KNOWN: ReadonlyMap<string, Docs> = new Map(
  Object.entries<EngineRoute>(ENGINE_ROUTES).map(([name, { method, path }]) => [
    `${method} ${path}`,
    ENGINE[name as keyof typeof ENGINE],
  ]),
);
