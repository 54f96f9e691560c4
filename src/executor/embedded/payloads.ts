/**
 * What each intent's payload must look like, for the edge (which answers 400 with the field's name), for the OpenAPI
 * document, and for the executor, which reads its typed payload through the same schema.
 *
 * Contract: an unknown field is refused, nothing is coerced, a parsed payload parses again to the same. Whether a key
 * exists is not asked here: an unknown key is a failed command, only a malformed one is a bad request.
 * Left to others: how deep and how large a body may be.
 */

import { z } from "@hono/zod-openapi";
import type { Intent } from "../../core/intents.ts";
import type { JsonObject } from "../../core/json.ts";

/** Names are indexed by SQLite; longer ones are mistakes. In UTF-16 units. */
export const NAME_LENGTH_MAX = 255;
/** Enough for a sentence and the head of a stack trace; the message is stored with an incident. In UTF-16 units. */
export const MESSAGE_LENGTH_MAX = 2000;
/** A definition is parsed at each step of its instances. */
const TASKS_MAX = 100;
const RETRIES_MAX = 100;
/** Documents of one deployment: all or none of them, in one transaction. */
const RESOURCES_MAX = 20;
/** A document of a million characters is a data set. The row of a command would hold twice that. */
const RESOURCE_LENGTH_MAX = 1_000_000;
/** Names of variables that a worker wants, and of tags that an instance has. */
const NAMES_MAX = 100;
const RETRIES_DEFAULT = 3;
/** Bounds the work and the answer of one activation. */
const JOBS_PER_ACTIVATION_MAX = 100;
/** A lease or a backoff of more than a day is a mistake in the unit. */
const SECONDS_MAX = 86_400;
const LEASE_SECONDS_DEFAULT = 60;

/**
 * Bounded text that SQLite keeps as it is. A lone surrogate has no UTF-8 form: SQLite would store U+FFFD instead, and
 * two different names would become the same.
 */
function text(lengthMin: number, lengthMax: number) {
  return z
    .string()
    .min(lengthMin)
    .max(lengthMax)
    .refine((value) => value.isWellFormed(), "must be well-formed Unicode (a lone surrogate is not)");
}

const name = () => text(1, NAME_LENGTH_MAX);
const message = () => text(0, MESSAGE_LENGTH_MAX);
const key = () => z.string().regex(/^\d{1,25}$/, "must be a key: 1 to 25 decimal digits in a string");
const leaseSeconds = () => z.number().positive().max(SECONDS_MAX);

/**
 * A JSON object, handed on as the very object that came in: rebuilding it member by member is how `__proto__` gets lost
 * or takes effect, and how a large object is walked by recursion.
 */
const variables = () =>
  z
    .custom<JsonObject>()
    .superRefine((value, context) => {
      const issue = findNotJson(value);
      if (issue !== null) context.addIssue({ code: "custom", ...issue });
    })
    .openapi({ type: "object", additionalProperties: true, description: "A JSON object, at most 1 MiB once merged" });

type Container = { readonly value: object; readonly parent: Container | null; readonly member: string };

/**
 * The first thing in a value that JSON could not write back as it is, and its path. `1e999` is legal JSON text and
 * parses to Infinity, which would be stored as null. Walks with a stack of its own, so that depth exhausts nothing.
 */
function findNotJson(root: unknown): { path: string[]; message: string } | null {
  if (typeof root !== "object" || root === null || Array.isArray(root)) {
    return { path: [], message: "must be a JSON object" };
  }
  const open: Container[] = [{ value: root, parent: null, member: "" }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const [member, value] of Object.entries(at.value)) {
      if (typeof value === "object" && value !== null) open.push({ value, parent: at, member });
      else if (!isScalar(value)) {
        const problem = typeof value === "number" ? "must be a finite number" : "must be JSON";
        return { path: pathTo(at, member), message: problem };
      }
    }
  }
  return null;
}

function isScalar(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return value === null || typeof value === "string" || typeof value === "boolean";
}

function pathTo(container: Container, member: string): string[] {
  const path = [member];
  for (let at = container; at.parent !== null; at = at.parent) path.unshift(at.member);
  return path;
}

function needed(member: string, instead: string) {
  return { code: "custom" as const, path: [member], message: `is needed, or ${instead} instead` };
}

function other(member: string, than: string) {
  return { code: "custom" as const, path: [member], message: `stands instead of ${than}, not beside them` };
}

/** One strict schema an intent. `parse` gives the payload with its defaults filled in. */
export const payloadSchemas = {
  "DEPLOYMENT:CREATE": z
    .strictObject({
      processId: name().optional(),
      tasks: z
        .array(z.strictObject({ type: name(), retries: z.int().min(1).max(RETRIES_MAX).default(RETRIES_DEFAULT) }))
        .min(1)
        .max(TASKS_MAX)
        .optional()
        .openapi({ description: "The steps of the process, one after the other" }),
      resources: z
        .array(z.strictObject({ name: name(), content: text(1, RESOURCE_LENGTH_MAX) }))
        .min(1)
        .max(RESOURCES_MAX)
        .optional()
        .openapi({
          description: "BPMN 2.0 documents as XML, instead of processId and tasks: all are deployed, or none",
        }),
    })
    .superRefine(({ processId, tasks, resources }, context) => {
      const isChain = processId !== undefined || tasks !== undefined;
      if (isChain && resources !== undefined) context.addIssue(other("resources", "processId and tasks"));
      if (processId === undefined && resources === undefined) context.addIssue(needed("processId", "resources"));
      if (tasks === undefined && resources === undefined) context.addIssue(needed("tasks", "resources"));
    }),
  "PROCESS_INSTANCE:CREATE": z
    .strictObject({
      processId: name().optional(),
      processDefinitionKey: key().optional().openapi({ description: "One version, instead of processId and version" }),
      version: z
        .int()
        .min(-1)
        .refine((value) => value !== 0, "must be -1, for the newest, or a version from 1 on")
        .optional()
        .openapi({ description: "Without it: the newest version" }),
      variables: variables().default({}),
      businessId: name().optional().openapi({ description: "No two active instances have the same" }),
      tags: z.array(name()).max(NAMES_MAX).optional(),
      details: z.boolean().optional(),
    })
    .superRefine(({ processId, processDefinitionKey, version }, context) => {
      const isNamed = processId !== undefined || version !== undefined;
      if (isNamed && processDefinitionKey !== undefined) {
        context.addIssue(other("processDefinitionKey", "processId and version"));
      }
      if (processId === undefined && processDefinitionKey === undefined) {
        context.addIssue(needed("processId", "processDefinitionKey"));
      }
    })
    .openapi({ required: ["processId"] }),
  "PROCESS_INSTANCE:CANCEL": z.strictObject({ processInstanceKey: key() }),
  "JOB:ACTIVATE": z.strictObject({
    type: name(),
    maxJobs: z.int().min(1).max(JOBS_PER_ACTIVATION_MAX).default(1),
    timeoutSeconds: leaseSeconds().default(LEASE_SECONDS_DEFAULT),
    worker: text(0, NAME_LENGTH_MAX).optional(),
    fetchVariables: z.array(name()).max(NAMES_MAX).optional().openapi({ description: "None, or without it: all" }),
    details: z.boolean().optional(),
  }),
  "JOB:COMPLETE": z.strictObject({ jobKey: key(), variables: variables().optional() }),
  "JOB:FAIL": z.strictObject({
    jobKey: key(),
    retries: z.int().min(0).max(RETRIES_MAX).optional().openapi({ description: "Without it: one less than before" }),
    errorMessage: message().optional(),
    retryBackoffSeconds: z.number().min(0).max(SECONDS_MAX).default(0),
    variables: variables().optional().openapi({ description: "For the next try of this task alone" }),
  }),
  "JOB:THROW_ERROR": z.strictObject({
    jobKey: key(),
    errorCode: name(),
    errorMessage: message().optional(),
    variables: variables().optional(),
  }),
  "JOB:UPDATE": z
    .strictObject({
      jobKey: key(),
      retries: z.int().min(1).max(RETRIES_MAX).optional(),
      timeoutSeconds: leaseSeconds().optional().openapi({ description: "A new deadline, counted from now" }),
    })
    .refine(
      (payload) => payload.retries !== undefined || payload.timeoutSeconds !== undefined,
      "needs retries, timeoutSeconds, or both",
    ),
  "INCIDENT:RESOLVE": z
    .strictObject({ incidentKey: key().optional(), jobKey: key().optional() })
    .refine(
      (payload) => (payload.incidentKey === undefined) !== (payload.jobKey === undefined),
      "needs either incidentKey or jobKey",
    ),
} satisfies Record<Intent, z.ZodType>;

/** The checked payload of an intent, defaults filled in. */
export type Payload<I extends Intent> = z.output<(typeof payloadSchemas)[I]>;
