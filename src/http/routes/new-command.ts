import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import type { CommandView } from "../../core/command.ts";
import { canonicalJson, parseIdempotencyKey } from "../../core/idempotency.ts";
import { INTENTS, type Intent, isCritical } from "../../core/intents.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { FieldFault, Problem } from "../../core/problem.ts";
import { type HangUp, partitionFor, readCommand, submitCommand } from "../../durable/engines.ts";
import { observeLatencies } from "../../durable/stubs.ts";
import type { FirstAnswer, KeyUse, Submission } from "../../durable/submission.ts";
import { payloadSchemas } from "../../executor/embedded/payloads.ts";
import { faultsForPath } from "../../executor/upstream/routes.ts";
import { callerKey } from "../../identity/caller.ts";
import type { AppEnv } from "../app-env.ts";
import { invalidFields } from "../body.ts";
import { gated, hearEngine, hearRefusal, refuseAtEdge, takeWanting } from "../edge.ts";
import { fieldFaults, jsonObject } from "../endpoint.ts";
import { refundTenant, refuseOverLimit } from "../middleware/tenant-limit.ts";
import { problem } from "../problem.ts";

/**
 * A new command's way: its payload and its key are checked, then the caller's own limit, then whether the engine has
 * room as far as this isolate knows, then the engine itself; and its caller may be held until it ends.
 */

/** How long a request may be held open for a command's end, in seconds. */
export const WAIT_SECONDS_MAX = 60;
/** A deadline further ahead is no deadline. */
const DEADLINE_SECONDS_MAX = 30 * 86_400;
/** Every command costs its tenant one token. */
const COMMAND_COST = 1;

/** The body of a new command, for the intents that this deployment takes. */
export function newCommandBody(config: Config) {
  return z.strictObject({
    intent: z.enum([...config.intents.keys()]),
    payload: jsonObject.default({}),
    deadlineSeconds: z.number().positive().max(DEADLINE_SECONDS_MAX).optional(),
  });
}

export type NewCommandBody = z.infer<ReturnType<typeof newCommandBody>>;

/** What the API document says of its headers. */
export const newCommandHeaders = z.object({
  "Idempotency-Key": z
    .string()
    .optional()
    .openapi({ description: "Your own name for the command: a repeat gets the first answer" }),
  Prefer: z.string().optional().openapi({ description: "`wait=N`: hold the answer up to N seconds for its end" }),
});

/** What the API document shows as that body. */
export function documentedBody(config: Config): z.ZodType {
  const body = newCommandBody(config);
  if (config.executor === "upstream") return body;
  const { deadlineSeconds } = body.shape;
  return z.union(
    INTENTS.map((intent) => z.object({ intent: z.literal(intent), payload: payloadSchemas[intent], deadlineSeconds })),
  );
}

/** @param waitSeconds of the query; `Prefer: wait=N` says the same */
export async function postCommand(
  c: Context<AppEnv>,
  config: Config,
  body: NewCommandBody,
  waitSeconds: number | undefined,
): Promise<Response> {
  const payload = checkPayload(config, body);
  if ("code" in payload) return problem(c, payload);
  const idempotency = await keyUse(c, body);
  if (idempotency !== null && "code" in idempotency) return problem(c, idempotency);
  const critical = isCritical(config.intents, body.intent);

  const tenant = callerKey(c.var.caller);
  const asker = { tenant, weight: c.var.caller.weight };
  const partition = partitionFor(config, tenant, payload.value);
  // Layer 2 is asked first and answers second: what it refuses must hear of its own limit first, and not be charged.
  const atEdge = critical ? null : gated(partition, tenant, idempotency !== null, Date.now());
  const limited = await refuseOverLimit(c, config, { cost: COMMAND_COST, critical, judgeOnly: atEdge !== null });
  if (limited instanceof Response) return limited;
  if (atEdge !== null) return problem(c, refuseAtEdge(partition, asker, atEdge, Date.now()));

  const waitMs = 1000 * (waitSeconds ?? preferredWaitSeconds(c.req.header("Prefer")));
  const wanting = takeWanting(partition);
  const submission = { ...submissionOf(c, config, body, payload.value), idempotency, waitMs, wanting };
  const submitted = await submitCommand(c.env, partition, submission, hangUpOf(c));
  if (submitted.health !== null) hearEngine(partition, submitted.health, Date.now());
  switch (submitted.kind) {
    case "refused": {
      const { overShare, problem: fault, health } = submitted;
      const forRoom = health !== null && (fault.code === "queue_full" || fault.code === "request_limit");
      if (forRoom) hearRefusal(partition, asker, fault.retryAfterSeconds, overShare, Date.now());
      if (limited.receipt !== undefined) await refundTenant(c, config, COMMAND_COST, limited.receipt);
      return problem(c, fault);
    }
    case "repeated":
      c.header("Idempotency-Replayed", "true");
      return answer(c, submitted.answer);
    case "accepted": {
      const { command, latenciesMs, deferred } = submitted;
      if (latenciesMs.length > 0) c.executionCtx.waitUntil(observeLatencies(c.env, c.var.caller, latenciesMs));
      const ended = waitMs > 0 ? await endOf(c, config, command, waitMs, idempotency?.key ?? null) : null;
      return answer(
        c,
        ended ? { told: "ended", command: ended } : { told: deferred ? "deferred" : "accepted", ...command },
      );
    }
  }
}

/** The one form of each answer, so that a repeat is the first one again, word for word. */
function answer(c: Context<AppEnv>, first: FirstAnswer): Response {
  if (first.told === "ended") return c.json(first.command);
  const { commandId, state, queuedAhead = 0, estimatedWaitSeconds = 0 } = first;
  const statusUrl = `/v1/commands/${commandId}`;
  const body = { commandId, state, statusUrl, queuedAhead, estimatedWaitSeconds };
  c.header("Location", statusUrl);
  return first.told === "accepted" ? c.json(body, 202) : c.json({ ...body, deferred: true }, 201);
}

function submissionOf(
  c: Context<AppEnv>,
  config: Config,
  { intent, deadlineSeconds }: NewCommandBody,
  payload: JsonObject,
): Omit<Submission, "idempotency" | "waitMs" | "wanting"> {
  const text = JSON.stringify(payload);
  const forwarded = config.UPSTREAM_FORWARD_HEADERS.flatMap((name) => {
    const value = c.req.header(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    tenant: callerKey(c.var.caller),
    weight: c.var.caller.weight,
    intent,
    payload: text,
    bytes: new TextEncoder().encode(text).byteLength,
    token: crypto.randomUUID(),
    deadlineMs: deadlineSeconds === undefined ? null : Math.ceil(deadlineSeconds * 1000),
    headers: Object.fromEntries(forwarded),
  };
}

/** The command once it has ended, after at most `waitMs`; null when it has not. */
async function endOf(
  c: Context<AppEnv>,
  config: Config,
  command: CommandView,
  waitMs: number,
  key: string | null,
): Promise<CommandView | null> {
  c.header("Preference-Applied", `wait=${waitMs / 1000}`);
  if (command.finishedAt !== undefined) return command;
  try {
    const tenant = callerKey(c.var.caller);
    const view = await readCommand(c.env, config, tenant, command.commandId, waitMs, hangUpOf(c), key);
    return view?.finishedAt === undefined ? null : view;
  } catch (error) {
    // It is accepted whatever becomes of the wait, so a wait that fails is none.
    console.warn(JSON.stringify({ event: "wait_failed", requestId: c.var.requestId, error: String(error) }));
    return null;
  }
}

export function hangUpOf(c: Context<AppEnv>): HangUp {
  return { signal: c.req.raw.signal, afterwards: (task) => c.executionCtx.waitUntil(task) };
}

function checkPayload(config: Config, { intent, payload }: NewCommandBody): Problem | { value: JsonObject } {
  if (config.executor === "upstream") {
    const faults = [...faultsForPath(config.UPSTREAM_ROUTES, intent, payload), ...faultsOfNumbers(payload)];
    return faults.length > 0 ? invalidFields(faults, "body") : { value: payload };
  }
  const parsed = payloadSchemas[intent as Intent].safeParse(payload);
  if (!parsed.success) return invalidFields(fieldFaults(parsed.error.issues, ["payload"]), "body");
  // What was parsed from JSON, checked and completed by a schema of plain data, is JSON.
  return isJsonObject(parsed.data) ? { value: parsed.data } : { code: "internal" };
}

/** 1e400 is JSON and no number of ours: the backend would get null. */
function faultsOfNumbers(payload: JsonObject): FieldFault[] {
  let lost = false;
  JSON.stringify(payload, (_member, value) => {
    lost ||= typeof value === "number" && !Number.isFinite(value);
    return value;
  });
  return lost ? [{ path: "payload", message: "has a number that is too large" }] : [];
}

/** The caller's own name for its command, with what it must not be used for again; null: it gave none. */
async function keyUse(c: Context<AppEnv>, body: NewCommandBody): Promise<KeyUse | Problem | null> {
  const header = c.req.header("Idempotency-Key");
  if (header === undefined) return null;
  const key = parseIdempotencyKey(header);
  if (key === null) {
    const message = "must be 1 to 255 printable ASCII characters";
    return invalidFields([{ path: "Idempotency-Key", message }], "header");
  }
  const { intent, payload, deadlineSeconds = null } = body;
  const text = canonicalJson({ intent, payload, deadlineSeconds });
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return { key, fingerprint: new Uint8Array(digest).toHex() };
}

/** RFC 7240. A preference that cannot be honoured is passed over, never an error. */
function preferredWaitSeconds(prefer: string | undefined): number {
  const match = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?:[,;\s]|$)/i.exec(prefer ?? "");
  return Math.min(Number(match?.[1] ?? 0), WAIT_SECONDS_MAX);
}
