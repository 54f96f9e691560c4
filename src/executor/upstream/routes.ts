import { z } from "@hono/zod-openapi";
import { type RouteStatuses, STATUS_MEANINGS } from "../../core/delivery/statuses.ts";
import type { EngineRoute } from "../../core/engine-routes.ts";
import { INTENT_FORM, intentTable, isCritical } from "../../core/intents.ts";
import { isRawNumber, type JsonObject, jsonOf, numberText } from "../../core/json.ts";
import { staysInPlace } from "../../core/path-segments.ts";
import type { FieldFault } from "../../core/problem.ts";
import { wholeUrl } from "./whole.ts";

/**
 * Where a command of each intent goes: the table that a deployment declares in `UPSTREAM_ROUTES`. Data, not code:
 * `{"ORDER:PLACE": {"method": "POST", "path": "/orders"}, "JOB:COMPLETE": {"path": "/jobs/{jobKey}/completion"}}`.
 * A name in braces is a member of the payload. `*` is where every other intent goes; without it, no other is taken.
 */

export interface UpstreamRoute {
  readonly method: string;
  readonly path: string;
  /** Layers 1 to 3 must not refuse its commands. */
  readonly critical: boolean;
  /** What it says of single statuses of the backend's answers. */
  readonly statuses: RouteStatuses;
  /** Its path is one of the engine's surface, which the backend's URL may end with. */
  readonly ofSurface: boolean;
}

export interface UpstreamRoutes {
  readonly byIntent: ReadonlyMap<string, UpstreamRoute>;
  /** Of intents that are not declared by name; null: they are not taken. */
  readonly otherwise: UpstreamRoute | null;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const route = z.strictObject({
  method: z.enum(METHODS).default("POST"),
  path: z
    .string()
    .regex(/^(\/[\x21-\x7e]*)?$/, "must begin with a slash, and have no spaces")
    .regex(/^[^#\\]*$/, "must have no fragment and no backslash: they would be dropped or changed")
    .regex(/^([^{}]|\{[^{}/?]+\})*$/, "must have a member's name in each pair of braces")
    .refine((path) => !hasDotSegment(path), "must have no dot segment: it would be another path")
    .default(""),
  critical: z.boolean().optional(),
  statuses: z
    .record(z.string().regex(/^[345]\d\d$/, "must be a status from 300 to 599"), z.enum(STATUS_MEANINGS))
    .default({}),
});

const table = z.record(
  z.string().refine((name) => name === "*" || INTENT_FORM.test(name), "must be NOUN:VERB in capitals, or *"),
  route,
);

/** @returns the table, an empty one for no text; or, for text that is none, one line that says what is wrong with it */
export function parseRoutes(text: string): UpstreamRoutes | string {
  const given = text === "" ? {} : jsonOf(text);
  if (given === undefined) return "it is not JSON";
  const parsed = table.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const said = issue?.code === "invalid_key" ? issue.issues[0]?.message : issue?.message;
    return `${issue?.path.join(".") || "it"}: ${said ?? "is no table of routes"}`;
  }
  const { "*": otherwise, ...declared } = parsed.data;
  if (otherwise?.critical) return "*.critical: only an intent that is named may be critical";
  const own = intentTable();
  const byIntent = Object.entries(declared).map(([intent, given]): [string, UpstreamRoute] => {
    const { critical = isCritical(own, intent), ...rest } = given;
    return [intent, { ...rest, critical, ofSurface: false }];
  });
  return {
    byIntent: new Map(byIntent),
    otherwise: otherwise === undefined ? null : { ...otherwise, critical: false, ofSurface: false },
  };
}

/** Whether a table names any intent at all, or `*`. */
export function declares({ byIntent, otherwise }: UpstreamRoutes): boolean {
  return byIntent.size > 0 || otherwise !== null;
}

/** Routes with those of a cluster's surface: each row that names an intent declares it. The deployment's own go first. */
export function withSurface(routes: UpstreamRoutes, rows: readonly EngineRoute[]): UpstreamRoutes {
  const declared = new Map(routes.byIntent);
  for (const { intent, method, path, critical } of rows) {
    if (intent === null || declared.has(intent)) continue;
    declared.set(intent, { method, path, critical, statuses: {}, ofSurface: true });
  }
  return { ...routes, byIntent: declared };
}

/** Where commands of an intent go; null: it is not taken. */
export function routeOf({ byIntent, otherwise }: UpstreamRoutes, intent: string): UpstreamRoute | null {
  return byIntent.get(intent) ?? (INTENT_FORM.test(intent) ? otherwise : null);
}

const MEMBER = /\{([^{}]*)\}/g;
const NO_VALUE = "must be a number, or text that is not empty";
const ELSEWHERE =
  "must not hold a dot segment, an empty segment or a control character, also not encoded: it would be another path";

/**
 * What of a payload is wrong for the path that it must fill: a member that is missing, or that would lead elsewhere.
 *
 * @returns faults with paths inside the payload; none when it fits
 */
export function faultsForPath({ path }: UpstreamRoute, payload: JsonObject): FieldFault[] {
  // What is encoded leads nowhere in a query.
  const [segments = "", query = ""] = path.split(/\?(.*)/s);
  return [
    ...segments.split("/").flatMap((segment) => faultsOfSegment(segment, payload, staysInPlace)),
    ...faultsOfSegment(query, payload, () => true),
  ].map(({ path: member, message }) => ({ path: `payload.${member}`, message }));
}

/** @param isFine whether the segment, filled and not encoded, may be sent */
function faultsOfSegment(segment: string, payload: JsonObject, isFine: (filled: string) => boolean): FieldFault[] {
  const members = [...segment.matchAll(MEMBER)].map(([, member = ""]) => member);
  const missing = members.filter((member) => textOf(payload, member) === null);
  if (missing.length > 0) return missing.map((path) => ({ path, message: NO_VALUE }));
  const filled = segment.replace(MEMBER, (_braces, member: string) => textOf(payload, member) ?? "");
  return isFine(filled) ? [] : members.map((path) => ({ path, message: ELSEWHERE }));
}

/** @throws Error when the payload does not fill the path; {@link faultsForPath} has been asked before */
export function urlOf(base: string, { path, ofSurface }: UpstreamRoute, payload: JsonObject): string {
  const filled = path.replace(MEMBER, (_braces, member: string) => {
    const text = textOf(payload, member);
    if (text === null) throw new Error(`the payload has no usable ${member}`);
    return encodeURIComponent(text);
  });
  if (ofSurface) return wholeUrl(base, filled);
  return filled === "" ? base : base.replace(/\/$/, "") + filled;
}

/** A member as it stands in a path; null when it is absent, empty, or neither text nor a number. */
function textOf(payload: JsonObject, member: string): string | null {
  const value = Object.hasOwn(payload, member) ? payload[member] : undefined;
  const isNumber = typeof value === "number" || isRawNumber(value);
  if (typeof value !== "string" && !isNumber) return null;
  const text = isNumber ? numberText(value) : value;
  return text === "" || !text.isWellFormed() ? null : text;
}

function hasDotSegment(path: string): boolean {
  const [segments = ""] = path.split("?", 1);
  return segments.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
}
