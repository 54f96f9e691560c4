import { z } from "@hono/zod-openapi";
import { INTENT_FORM, type IntentTable, intentTable, isCritical } from "../../core/intents.ts";
import { isRawNumber, type JsonObject, jsonOf, numberText } from "../../core/json.ts";
import type { FieldFault } from "../../core/problem.ts";

/**
 * Where a command of each intent goes: the table that a deployment declares in `UPSTREAM_ROUTES`. Data, not code:
 * `{"ORDER:PLACE": {"method": "POST", "path": "/orders"}, "JOB:COMPLETE": {"path": "/jobs/{jobKey}/completion"}}`.
 * A name in braces is a member of the payload. `*` is where everything else goes; without it, to the upstream's own URL.
 */

export interface UpstreamRoute {
  readonly method: string;
  readonly path: string;
}

export interface UpstreamRoutes {
  readonly byIntent: ReadonlyMap<string, UpstreamRoute>;
  readonly otherwise: UpstreamRoute;
  /** What the deployment takes: our own intents, and those that it declares. */
  readonly intents: IntentTable;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const route = z.strictObject({
  method: z.enum(METHODS).default("POST"),
  path: z
    .string()
    .regex(/^(\/[\x21-\x7e]*)?$/, "must begin with a slash, and have no spaces")
    .default(""),
  critical: z.boolean().optional(),
});

const table = z.record(
  z.string().refine((name) => name === "*" || INTENT_FORM.test(name), "must be NOUN:VERB in capitals, or *"),
  route,
);

const EVERYTHING: UpstreamRoute = { method: "POST", path: "" };

/** @returns the table; or, for text that is none, one line that says what is wrong with it */
export function parseRoutes(text: string): UpstreamRoutes | string {
  const given = jsonOf(text);
  if (given === undefined) return "it is not JSON";
  const parsed = table.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const said = issue?.code === "invalid_key" ? issue.issues[0]?.message : issue?.message;
    return `${issue?.path.join(".") || "it"}: ${said ?? "is no table of routes"}`;
  }
  const { "*": otherwise = EVERYTHING, ...declared } = parsed.data;
  const own = intentTable();
  const entries = Object.entries(declared);
  return {
    byIntent: new Map(entries),
    otherwise,
    intents: intentTable(
      new Map(entries.map(([intent, { critical = isCritical(own, intent) }]) => [intent, { critical }])),
    ),
  };
}

export function routeOf(routes: UpstreamRoutes, intent: string): UpstreamRoute {
  return routes.byIntent.get(intent) ?? routes.otherwise;
}

const MEMBER = /\{([^{}]*)\}/g;

/**
 * What of a payload is wrong for the path that it must fill: a member that is missing, or that would lead elsewhere.
 *
 * @returns faults with paths inside the payload; none when it fits
 */
export function faultsForPath(routes: UpstreamRoutes, intent: string, payload: JsonObject): FieldFault[] {
  const members = [...routeOf(routes, intent).path.matchAll(MEMBER)].map(([, member = ""]) => member);
  return members.flatMap((member) =>
    segmentOf(payload, member) === null
      ? [{ path: `payload.${member}`, message: "must be a number, or text that is not empty, . or .." }]
      : [],
  );
}

/** @throws Error when the payload does not fill the path; {@link faultsForPath} has been asked before */
export function urlOf(base: string, { path }: UpstreamRoute, payload: JsonObject): string {
  const filled = path.replace(MEMBER, (_braces, member: string) => {
    const segment = segmentOf(payload, member);
    if (segment === null) throw new Error(`the payload has no usable ${member}`);
    return segment;
  });
  return filled === "" ? base : base.replace(/\/$/, "") + filled;
}

/** A member as a path segment; null when it is absent, empty, or a dot segment, which would be another path. */
function segmentOf(payload: JsonObject, member: string): string | null {
  const value = Object.hasOwn(payload, member) ? payload[member] : undefined;
  const isNumber = typeof value === "number" || isRawNumber(value);
  if (typeof value !== "string" && !isNumber) return null;
  const text = isNumber ? numberText(value) : value;
  return text === "" || text === "." || text === ".." || !text.isWellFormed() ? null : encodeURIComponent(text);
}
