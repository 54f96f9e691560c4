import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { ENGINE_ROUTES } from "../../core/engine-routes.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { pollJobs } from "../../durable/engines.ts";
import type { AppEnv } from "../app-env.ts";
import { checkPayload, type NewCommand, passLayers } from "../command-door.ts";
import type { Api } from "../endpoint.ts";
import { ENGINE } from "../examples/engine.ts";
import { hangUpOf } from "../hang-up.ts";
import { problem } from "../problem.ts";
import { DEFAULT_TENANT, engineEndpoint, optional, present, wholeNumber } from "./engine-endpoint.ts";
import { heldAnswer, NO_JOBS } from "./held-answer.ts";
import { COMMAND_WAIT_MS, resultOf } from "./run-command.ts";
import { activatedShape } from "./shapes.ts";
import { foreignTenant } from "./tenant.ts";

/**
 * `/v2/jobs/activation`: a worker's poll. Its tenant's own limit is asked once, when it comes; then it is held at the
 * engine, where it takes no place, until there is a job or its time is over.
 */

/** How long a poll is held that does not say: its client asks again at once, so it must be long. */
const HOLD_MS = 10_000;
/** A worker that gets nothing comes again, so a longer hold is worth nothing. */
const HOLD_MS_MAX = 60_000;
/** In one answer; a worker that asks for more gets the rest with its next poll. */
const JOBS_MAX = 100;

const { activate } = ENGINE_ROUTES;

const activation = z
  .object({
    type: z.string(),
    timeout: wholeNumber(1, 86_400_000).describe("How long the jobs are the worker's, in milliseconds."),
    maxJobsToActivate: z.int().min(1).describe(`More than ${JOBS_MAX} is ${JOBS_MAX}.`),
    worker: optional(z.string()),
    fetchVariable: optional(z.array(z.string())).describe("None: all variables."),
    requestTimeout: optional(wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).describe(
      "How long to hold the poll, in milliseconds.",
    ),
    tenantIds: optional(z.array(z.string())),
  })
  .openapi("JobActivation");

type Activation = z.infer<typeof activation>;

export function registerActivation(api: Api, config: Config): void {
  engineEndpoint(
    api,
    activate,
    {
      summary: "Take jobs; held until there are some",
      body: activation,
      responses: { 200: { description: "Jobs, or none in that time", schema: activatedShape } },
      docs: ENGINE.activate,
    },
    (c, { body }) => answerPoll(c, config, body),
  );
}

/** 0 is not "at once" but "as you like": clients send it by default. Below it is at once. */
function holdMs(requestTimeout: number): number {
  if (requestTimeout === 0) return HOLD_MS;
  return Math.max(0, Math.min(HOLD_MS_MAX, requestTimeout));
}

async function answerPoll(c: Context<AppEnv>, config: Config, body: Activation): Promise<Response> {
  const foreign = foreignTenant(c, body.tenantIds ?? []);
  if (foreign !== null) return problem(c, foreign);
  const { type, timeout, worker, requestTimeout = 0 } = body;
  const payload = present({
    type,
    maxJobs: Math.min(JOBS_MAX, body.maxJobsToActivate),
    timeoutSeconds: timeout / 1000,
    worker: worker === "" ? undefined : worker,
    fetchVariables: body.fetchVariable?.length === 0 ? undefined : body.fetchVariable,
    details: true,
  });
  const checked = checkPayload(config, activate.intent, payload, []);
  if ("code" in checked) return problem(c, checked);
  const { intent, cost } = activate;
  const hold = holdMs(requestTimeout);
  const command = { intent, payload: checked.value, deadlineMs: COMMAND_WAIT_MS, waitMs: 0, cost, said: payload };
  return await heldAnswer(c, NO_JOBS, (gone) => poll(c, config, command, { type, holdMs: hold }, gone));
}

/** What a poll is told that has found nothing in its time. */
type NoJobs = Extract<Awaited<ReturnType<typeof pollJobs>>, { readonly kind: "nothing" }>;

/** @param gone aborts when the worker is no longer there */
async function poll(
  c: Context<AppEnv>,
  config: Config,
  command: NewCommand,
  asked: { readonly type: string; readonly holdMs: number },
  gone: AbortSignal,
): Promise<Response> {
  // A poll that is held asks nothing of a full engine until there is a job, and would otherwise only come more often.
  const passing = { key: null, critical: activate.critical, skipGate: asked.holdMs > 0 };
  const hangUp = { ...hangUpOf(c), signal: gone };
  const polled = await passLayers<NoJobs>(c, config, command, passing, (partition, submission) =>
    pollJobs(c.env, partition, { ...asked, submission }, hangUp),
  );
  switch (polled.kind) {
    case "nothing":
      return c.json({ jobs: [] });
    case "answered":
      return polled.response;
    case "refused":
      return problem(c, polled.problem);
    case "repeated":
      return problem(c, { code: "internal" });
    case "accepted": {
      const result = resultOf(c, polled.command);
      return result instanceof Response ? result : c.json({ jobs: jobsOf(result) });
    }
  }
}

function jobsOf({ jobs = [] }: JsonObject): JsonObject[] {
  return Array.isArray(jobs) ? jobs.filter(isJsonObject).map(shown) : [];
}

function shown(job: JsonObject): JsonObject {
  return {
    type: job.type ?? "",
    processDefinitionId: job.processDefinitionId ?? "",
    processDefinitionVersion: job.processDefinitionVersion ?? 1,
    elementId: job.elementId ?? "",
    customHeaders: job.customHeaders ?? {},
    worker: job.worker ?? "",
    retries: job.retries ?? 0,
    // Here in Unix milliseconds.
    deadline: Date.parse(String(job.deadline)),
    variables: job.variables ?? {},
    tenantId: DEFAULT_TENANT,
    jobKey: job.jobKey ?? "",
    processInstanceKey: job.processInstanceKey ?? "",
    processDefinitionKey: job.processDefinitionKey ?? "",
    elementInstanceKey: job.elementInstanceKey ?? "",
    kind: "BPMN_ELEMENT",
    listenerEventType: "UNSPECIFIED",
    userTask: null,
    tags: job.tags ?? [],
    rootProcessInstanceKey: null,
  };
}
