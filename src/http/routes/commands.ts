import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { type CommandView, END_STATES } from "../../core/command.ts";
import { INTENTS, type Intent, isCritical } from "../../core/intents.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Problem } from "../../core/problem.ts";
import { cancelCommand, partitionFor, readCommand, submitCommand } from "../../durable/engines.ts";
import { observeLatencies } from "../../durable/stubs.ts";
import { payloadSchemas } from "../../executor/embedded/payloads.ts";
import { callerKey } from "../../identity/caller.ts";
import type { AppEnv } from "../app-env.ts";
import { invalidFields, isJsonObject } from "../body.ts";
import { countRefusal, gateRefusal, hearEngine, hearOverShare, noteWanting, takeWanting } from "../edge.ts";
import { type Api, endpoint, fieldFaults, jsonObject } from "../endpoint.ts";
import { refundTenant, refuseOverLimit } from "../middleware/tenant-limit.ts";
import { problem } from "../problem.ts";

/** `/v1/commands`: a command's way through the three layers, and what became of it. */

/** How long a request may be held open for a command's end, in seconds. */
export const WAIT_SECONDS_MAX = 60;

/** Every command costs its tenant one token. */
const COMMAND_COST = 1;

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

const newCommand = z.strictObject({ intent: z.enum(INTENTS), payload: jsonObject.default({}) });
const commandPath = z.object({ id: z.string().max(64) });
const waitQuery = z.object({
  wait: z
    .string()
    .regex(/^\d{1,4}$/, "must be whole seconds")
    .transform((seconds) => Math.min(Number(seconds), WAIT_SECONDS_MAX))
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
      documentedBody: z.union(
        INTENTS.map((intent) => z.object({ intent: z.literal(intent), payload: payloadSchemas[intent] })),
      ),
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
      const view = await readCommand(c.env, config, callerKey(c.var.caller), params.id, (query.wait ?? 0) * 1000);
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
      const cancelled = await cancelCommand(c.env, config, callerKey(c.var.caller), params.id);
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

  const tenant = callerKey(c.var.caller);
  const partition = partitionFor(config, tenant, payload.value);
  // Layer 2 is asked first and answers second: what it refuses must hear of its own limit first, and not be charged.
  const { weight } = c.var.caller;
  const gated = critical ? null : gateRefusal(partition, tenant, Date.now());
  const limited = await refuseOverLimit(c, config, { cost: COMMAND_COST, critical, judgeOnly: gated !== null });
  if (limited instanceof Response) return limited;
  if (gated !== null) {
    countRefusal(gated.code);
    noteWanting(partition, { tenant, weight });
    return problem(c, gated);
  }

  const text = JSON.stringify(payload.value);
  const bytes = new TextEncoder().encode(text).byteLength;
  const { intent } = body;
  const wanting = takeWanting(partition);
  const submission = { tenant, intent, payload: text, bytes, weight, token: crypto.randomUUID(), wanting };
  const { signal } = c.req.raw;
  const submitted = await submitCommand(c.env, partition, submission, signal, (task) => c.executionCtx.waitUntil(task));
  if (submitted.health !== null) hearEngine(partition, submitted.health, Date.now());
  if (submitted.kind === "refused") {
    const { overShare, problem: fault } = submitted;
    if (overShare && "retryAfterSeconds" in fault) hearOverShare(tenant, fault.retryAfterSeconds, Date.now());
    if (limited.receipt !== undefined) await refundTenant(c, config, COMMAND_COST, limited.receipt);
    return problem(c, submitted.problem);
  }

  const { command, latenciesMs } = submitted;
  if (latenciesMs.length > 0) c.executionCtx.waitUntil(observeLatencies(c.env, c.var.caller, latenciesMs));
  const statusUrl = `/v1/commands/${command.commandId}`;
  if (waitMs > 0) {
    c.header("Preference-Applied", `wait=${waitMs / 1000}`);
    const view = command.finishedAt === undefined ? await held(c, config, command.commandId, waitMs) : command;
    if (view?.finishedAt !== undefined) return c.json(view);
  }
  const { commandId, state, queuedAhead = 0, estimatedWaitSeconds = 0 } = command;
  return c.json({ commandId, state, statusUrl, queuedAhead, estimatedWaitSeconds }, 202, { Location: statusUrl });
}

/** The command after a wait for its end. It is accepted whatever becomes of the wait, so a wait that fails is none. */
async function held(
  c: Context<AppEnv>,
  config: Config,
  commandId: string,
  waitMs: number,
): Promise<CommandView | null> {
  try {
    return await readCommand(c.env, config, callerKey(c.var.caller), commandId, waitMs);
  } catch (error) {
    console.warn(JSON.stringify({ event: "wait_failed", requestId: c.var.requestId, error: String(error) }));
    return null;
  }
}

function checkPayload(intent: Intent, payload: JsonObject): Problem | { value: JsonObject } {
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
