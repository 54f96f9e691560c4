import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { ENGINE_ROUTES } from "../../core/engine-routes.ts";
import { type JsonObject, objectOf } from "../../core/json.ts";
import type { AnyProblem } from "../../core/problem.ts";
import type { InstanceView } from "../../durable/engine-reads.ts";
import { awaitInstance, searchEngine } from "../../durable/engines.ts";
import { ObjectUnreachable } from "../../durable/stubs.ts";
import { callerKey } from "../../identity/caller.ts";
import type { AppEnv } from "../app-env.ts";
import type { Api } from "../endpoint.ts";
import { ENGINE } from "../examples/engine.ts";
import { hangUpOf } from "../hang-up.ts";
import { problem } from "../problem.ts";
import {
  DEFAULT_TENANT,
  engineEndpoint,
  keyHeader,
  keyText,
  optional,
  present,
  variables,
  wholeNumber,
} from "./engine-endpoint.ts";
import { runCommand } from "./run-command.ts";
import { createdShape } from "./shapes.ts";
import { foreignTenant } from "./tenant.ts";

/** `/v2/process-instances`: created, perhaps awaited to their end, and cancelled. */

/** How long a caller awaits an instance that does not say: what the engine's own gateways do. */
const AWAIT_MS = 10_000;
/** Each holds a request open. */
const AWAIT_MS_MAX = 600_000;
/** A wait that breaks off because the engine restarts is taken up again, so often. */
const AWAITS_MAX = 3;
/** As much of an incident as is told, in characters: its message may be a stack trace. */
const INCIDENT_LENGTH_MAX = 500;
/** The newest version, as clients say it. */
const NEWEST = -1;

const { create, cancel } = ENGINE_ROUTES;

const newInstance = z
  .object({
    processDefinitionId: optional(z.string()),
    processDefinitionKey: optional(keyText),
    processDefinitionVersion: optional(z.int().min(NEWEST)).describe("-1, or without it: the newest."),
    variables: optional(variables),
    tenantId: optional(z.string()),
    awaitCompletion: optional(z.boolean()).describe("Hold the answer until the instance has completed."),
    requestTimeout: optional(wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).describe(
      "How long to await it, in milliseconds.",
    ),
    fetchVariables: optional(z.array(z.string())),
    businessId: optional(z.string()).describe("No two active instances have the same."),
    tags: optional(z.array(z.string())),
    // Passed over they would change what the caller means; so they are refused, unless they are empty.
    startInstructions: optional(z.array(z.unknown()).max(0, "is not supported")),
    runtimeInstructions: optional(z.array(z.unknown()).max(0, "is not supported")),
  })
  .refine(
    (body) => (body.processDefinitionId === undefined) !== (body.processDefinitionKey === undefined),
    "needs either processDefinitionId or processDefinitionKey",
  )
  .openapi("NewProcessInstance");

type NewInstance = z.infer<typeof newInstance>;

export function registerProcessInstances(api: Api, config: Config): void {
  engineEndpoint(
    api,
    create,
    {
      summary: "Start an instance; `awaitCompletion` holds until it ends",
      body: newInstance,
      responses: { 200: { description: "It is there, or has ended", schema: createdShape } },
      documentedHeaders: keyHeader,
      docs: ENGINE.create,
    },
    (c, { body }) => createInstance(c, config, body),
  );
  engineEndpoint(
    api,
    cancel,
    {
      summary: "Terminate an instance",
      params: z.object({ processInstanceKey: keyText }),
      responses: { 204: { description: "It is terminated, and its jobs are gone" } },
      documentedHeaders: keyHeader,
      docs: ENGINE.cancel,
    },
    async (c, { params }) => {
      const result = await runCommand(c, config, cancel, params);
      return result instanceof Response ? result : c.body(null, 204);
    },
  );
}

async function createInstance(c: Context<AppEnv>, config: Config, body: NewInstance): Promise<Response> {
  const foreign = foreignTenant(c, [body.tenantId]);
  if (foreign !== null) return problem(c, foreign);
  const { processDefinitionId: processId, processDefinitionKey, processDefinitionVersion = NEWEST } = body;
  const named = processId === undefined ? { processDefinitionKey } : { processId, version: processDefinitionVersion };
  const { businessId, tags } = body;
  const payload = present({ ...named, variables: body.variables, businessId, tags, details: true });
  const created = await runCommand(c, config, create, payload);
  if (created instanceof Response) return created;
  const ended = body.awaitCompletion === true ? await awaited(c, config, created, body) : {};
  return ended instanceof Response ? ended : c.json(shown(created, ended));
}

/** The variables of an instance that has completed, or the answer to give because it has not. */
async function awaited(
  c: Context<AppEnv>,
  config: Config,
  { processInstanceKey }: JsonObject,
  { requestTimeout = 0, fetchVariables }: NewInstance,
): Promise<JsonObject | Response> {
  const key = String(processInstanceKey);
  const waitMs = requestTimeout === 0 ? AWAIT_MS : Math.max(0, Math.min(AWAIT_MS_MAX, requestTimeout));
  const instance = await endOfInstance(c, config, key, Date.now() + waitMs);
  if (instance?.state !== "COMPLETED") {
    if (instance?.state === "TERMINATED") return problem(c, wasTerminated(key));
    return problem(c, stillRuns(key, instance === null ? "" : await incidentOf(c, config, key)));
  }
  const variables = objectOf(instance.variables);
  if (fetchVariables === undefined || fetchVariables.length === 0) return variables;
  const wanted = new Set(fetchVariables);
  return Object.fromEntries(Object.entries(variables).filter(([name]) => wanted.has(name)));
}

/** Null: the engine does not answer. The instance is there all the same, so this is no refusal to send again. */
async function endOfInstance(
  c: Context<AppEnv>,
  config: Config,
  key: string,
  untilMs: number,
): Promise<InstanceView | null> {
  const tenant = callerKey(c.get("caller"));
  for (let waits = 0; waits < AWAITS_MAX; waits++) {
    try {
      return await awaitInstance(c.env, config, tenant, key, Math.max(0, untilMs - Date.now()), hangUpOf(c));
    } catch (error) {
      if (!(error instanceof ObjectUnreachable)) throw error;
      console.warn(JSON.stringify({ event: "wait_failed", requestId: c.get("requestId"), error: error.message }));
    }
  }
  return null;
}

function wasTerminated(key: string): AnyProblem {
  return { code: "conflict", detail: `Process instance ${key} was terminated before it completed.` };
}

function stillRuns(key: string, because: string): AnyProblem {
  const detail = `Process instance ${key} is there and has not completed in time.${because}`;
  return { code: "deadline_exceeded", detail };
}

/** What an instance waits for that goes on by itself no more, as a sentence; empty where there is no such thing. */
async function incidentOf(c: Context<AppEnv>, config: Config, key: string): Promise<string> {
  const query = { filter: { processInstanceKey: key }, sort: [], page: { limit: 1 } };
  try {
    const found = await searchEngine(c.env, config, callerKey(c.get("caller")), "incidents", query);
    const [incident] = "items" in found ? found.items : [];
    if (incident === undefined) return "";
    const { incidentKey, errorType, elementId, errorMessage } = incident;
    return ` Incident ${incidentKey} (${errorType}) is open at ${elementId}: ${errorMessage}`.slice(
      0,
      INCIDENT_LENGTH_MAX,
    );
  } catch (error) {
    // The answer is as true without it.
    console.warn(JSON.stringify({ event: "incident_unread", requestId: c.get("requestId"), error: String(error) }));
    return "";
  }
}

function shown(created: JsonObject, variables: JsonObject) {
  const { processDefinitionId, processDefinitionVersion, processDefinitionKey, processInstanceKey } = created;
  return {
    processDefinitionId,
    processDefinitionVersion,
    tenantId: DEFAULT_TENANT,
    variables,
    processDefinitionKey,
    processInstanceKey,
    tags: created.tags ?? [],
    businessId: created.businessId ?? null,
  };
}
