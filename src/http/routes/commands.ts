import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { END_STATES } from "../../core/command.ts";
import { INTENTS, type Intent, isCritical } from "../../core/intents.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Problem } from "../../core/problem.ts";
import { cancelCommand, readCommand, submitCommand } from "../../durable/stubs.ts";
import { payloadSchemas } from "../../executor/embedded/payloads.ts";
import { callerKey } from "../../identity/caller.ts";
import type { AppEnv } from "../app-env.ts";
import { invalidFields, isJsonObject } from "../body.ts";
import { countRefusal, gateRefusal, hearEngine } from "../edge.ts";
import { type Api, endpoint, fieldFaults } from "../endpoint.ts";
import { refuseOverLimit } from "../middleware/tenant-limit.ts";
import { problem } from "../problem.ts";

/** `/v1/commands`: a command's way through the three layers, and what became of it. */

/** How long a request may be held open for a command's end, in seconds. */
export const WAIT_SECONDS_MAX = 60;

const commandView = z
  .object({
    commandId: z.string(),
    intent: z.enum(INTENTS),
    state: z.enum(["queued", "running", ...END_STATES]),
    attempts: z.int(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    acceptedAt: z.iso.datetime(),
    startedAt: z.iso.datetime().optional(),
    finishedAt: z.iso.datetime().optional(),
    queuedAhead: z.int().optional(),
    estimatedWaitSeconds: z.number().optional(),
  })
  .openapi("Command");

const accepted = z
  .object({
    commandId: z.string(),
    state: commandView.shape.state,
    statusUrl: z.string(),
    queuedAhead: z.int(),
    estimatedWaitSeconds: z.number(),
  })
  .openapi("Accepted");

const newCommand = z.strictObject({ intent: z.enum(INTENTS), payload: z.record(z.string(), z.unknown()).default({}) });
const commandPath = z.object({ id: z.string().max(64) });
const waitQuery = z.object({
  wait: z
    .string()
    .regex(/^\d{1,4}$/, "must be whole seconds")
    .transform(Number)
    .pipe(z.number().max(WAIT_SECONDS_MAX))
    .optional(),
});

export function registerCommands(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "post",
      path: "/v1/commands",
      summary: "Send a command",
      tags: ["commands"],
      body: newCommand,
      responses: {
        200: { description: "It ended within `Prefer: wait=N` seconds", schema: commandView },
        202: { description: "Accepted, and on disk", schema: accepted },
      },
    },
    (c, { body }) => postCommand(c, config, body),
  );
  endpoint(
    api,
    {
      method: "get",
      path: "/v1/commands/{id}",
      summary: "A command's state; `wait` holds until it ends",
      tags: ["commands"],
      params: commandPath,
      query: waitQuery,
      responses: { 200: { description: "The command", schema: commandView } },
    },
    async (c, { params, query }) => {
      const view = await readCommand(c.env, callerKey(c.var.caller), params.id, (query.wait ?? 0) * 1000);
      return view === null ? problem(c, unknownCommand(params.id)) : c.json(view);
    },
  );
  endpoint(
    api,
    {
      method: "delete",
      path: "/v1/commands/{id}",
      summary: "Cancel a command while it is queued",
      tags: ["commands"],
      params: commandPath,
      responses: { 204: { description: "Cancelled" } },
    },
    async (c, { params }) => {
      const cancelled = await cancelCommand(c.env, callerKey(c.var.caller), params.id);
      switch (cancelled) {
        case "cancelled":
          return c.body(null, 204);
        case "not_found":
          return problem(c, unknownCommand(params.id));
        case "not_queued":
          return problem(c, { code: "conflict", detail: "The command is no longer queued: it runs or has ended." });
      }
    },
  );
}

async function postCommand(c: Context<AppEnv>, config: Config, body: z.infer<typeof newCommand>): Promise<Response> {
  const waitMs = preferredWaitMs(c.req.header("Prefer"));
  const payload = checkPayload(body.intent, body.payload);
  if ("code" in payload) return problem(c, payload);
  const critical = isCritical(body.intent);

  const refused = await refuseOverLimit(c, config, { cost: 1, critical });
  if (refused !== null) return refused;

  const { caller } = c.var;
  const tenant = callerKey(caller);
  const gated = critical ? null : gateRefusal(tenant, c.var.nowMs);
  if (gated !== null) {
    countRefusal(gated.code);
    return problem(c, gated);
  }

  const text = JSON.stringify(payload.value);
  const bytes = new TextEncoder().encode(text).byteLength;
  const submission = {
    tenant,
    intent: body.intent,
    payload: text,
    bytes,
    weight: caller.weight,
    token: crypto.randomUUID(),
  };
  const submitted = await submitCommand(c.env, submission, c.req.raw.signal, (task) => c.executionCtx.waitUntil(task));
  if (submitted.health !== null) hearEngine(submitted.health, tenant, Date.now());
  if (submitted.kind === "refused") return problem(c, submitted.problem);

  const { command } = submitted;
  const statusUrl = `/v1/commands/${command.commandId}`;
  if (waitMs > 0) {
    c.header("Preference-Applied", `wait=${waitMs / 1000}`);
    const view = await readCommand(c.env, tenant, command.commandId, waitMs);
    if (view?.finishedAt !== undefined) return c.json(view);
  }
  const { commandId, state, queuedAhead = 0, estimatedWaitSeconds = 0 } = command;
  return c.json({ commandId, state, statusUrl, queuedAhead, estimatedWaitSeconds }, 202, { Location: statusUrl });
}

function checkPayload(intent: Intent, payload: Record<string, unknown>): Problem | { value: JsonObject } {
  const parsed = payloadSchemas[intent].safeParse(payload);
  if (!parsed.success) return invalidFields(fieldFaults(parsed.error.issues, ["payload"]), "body");
  // What was parsed from JSON, checked and completed by a schema of plain data, is JSON.
  return isJsonObject(parsed.data) ? { value: parsed.data } : { code: "internal" };
}

/** RFC 7240. A preference that cannot be honoured is passed over, never an error. */
function preferredWaitMs(prefer: string | undefined): number {
  const match = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?:[,;\s]|$)/i.exec(prefer ?? "");
  return Math.min(Number(match?.[1] ?? 0), WAIT_SECONDS_MAX) * 1000;
}

function unknownCommand(id: string): Problem {
  return { code: "not_found", detail: `There is no command ${JSON.stringify(id)} of yours.` };
}
