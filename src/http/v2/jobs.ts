import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { type CommandRoute, ENGINE_ROUTES } from "../../core/engine-routes.ts";
import type { JsonObject } from "../../core/json.ts";
import type { AppEnv } from "../app-env.ts";
import type { Api } from "../endpoint.ts";
import { ENGINE } from "../examples/engine.ts";
import {
  cutText,
  engineEndpoint,
  keyHeader,
  keyText,
  optional,
  present,
  variables,
  wholeNumber,
} from "./engine-endpoint.ts";
import { runCommand } from "./run-command.ts";

/** `/v2/jobs/{jobKey}` and below: how a worker ends a job, or changes it. Activation is in activation.ts. */

/** As much of a message as is stored with an incident. */
const MESSAGE_LENGTH_MAX = 2_000;
const BACKOFF_MS_MAX = 86_400_000;

const { complete, fail, throwError, update, resolve } = ENGINE_ROUTES;

const jobPath = z.object({ jobKey: keyText });
const message = optional(cutText(MESSAGE_LENGTH_MAX));
const completion = z.object({ variables: optional(variables) }).default({ variables: undefined });
const failure = z
  .object({
    retries: optional(z.int().min(0)),
    errorMessage: message,
    retryBackOff: optional(wholeNumber(0, BACKOFF_MS_MAX)),
    variables: optional(variables),
  })
  .default({ retries: undefined, errorMessage: undefined, retryBackOff: undefined, variables: undefined });
const bpmnError = z.object({ errorCode: z.string(), errorMessage: message, variables: optional(variables) });
const changes = z.object({
  changeset: z.object({ retries: optional(z.int()), timeout: optional(wholeNumber(1, BACKOFF_MS_MAX)) }),
});

export function registerJobs(api: Api, config: Config): void {
  engineEndpoint(
    api,
    complete,
    {
      summary: "Complete a job",
      params: jobPath,
      body: completion,
      responses: DONE,
      documentedHeaders: keyHeader,
      docs: ENGINE.complete,
    },
    (c, { params, body }) => done(c, config, complete, present({ ...params, variables: body.variables })),
  );
  engineEndpoint(
    api,
    fail,
    {
      summary: "Fail a job; without retries it makes an incident",
      params: jobPath,
      body: failure,
      responses: DONE,
      documentedHeaders: keyHeader,
      docs: ENGINE.fail,
    },
    (c, { params, body: { retries = 0, retryBackOff = 0, errorMessage, variables } }) => {
      const payload = { ...params, retries, retryBackoffSeconds: retryBackOff / 1000, errorMessage, variables };
      return done(c, config, fail, present(payload));
    },
  );
  engineEndpoint(
    api,
    throwError,
    {
      summary: "Throw an error of the process",
      params: jobPath,
      body: bpmnError,
      responses: DONE,
      documentedHeaders: keyHeader,
      docs: ENGINE.throwError,
    },
    (c, { params, body }) => done(c, config, throwError, present({ ...params, ...body })),
  );
  engineEndpoint(
    api,
    update,
    {
      summary: "Change a job's retries or its lease",
      params: jobPath,
      body: changes,
      responses: DONE,
      documentedHeaders: keyHeader,
      docs: ENGINE.update,
    },
    (c, { params, body: { changeset } }) => {
      const { retries, timeout } = changeset;
      const timeoutSeconds = timeout === undefined ? undefined : timeout / 1000;
      return done(c, config, update, present({ ...params, retries, timeoutSeconds }));
    },
  );
  engineEndpoint(
    api,
    resolve,
    {
      summary: "Resolve an incident",
      params: z.object({ incidentKey: keyText }),
      responses: DONE,
      documentedHeaders: keyHeader,
      docs: ENGINE.resolve,
    },
    (c, { params }) => done(c, config, resolve, params),
  );
}

const DONE = { 204: { description: "Done" } };

async function done(c: Context<AppEnv>, config: Config, route: CommandRoute, payload: JsonObject): Promise<Response> {
  const result = await runCommand(c, config, route, payload);
  return result instanceof Response ? result : c.body(null, 204);
}
