import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { INTENTS } from "../../core/intents.ts";
import { memberText } from "../../core/json-scan.ts";
import { answerFor, type FirstAnswer } from "../../durable/submission.ts";
import { payloadSchemas } from "../../executor/embedded/payloads.ts";
import { answer, answerJson, type Headings } from "../answer.ts";
import type { AppEnv } from "../app-env.ts";
import { awaitEnd, checkPayload, sendCommand } from "../command-door.ts";
import { commandJson } from "../command-json.ts";
import { jsonObject } from "../endpoint.ts";
import { intentSchema } from "../intents.ts";
import { problem } from "../problem.ts";

/** `POST /v1/commands`: a command by its intent; its caller may be held until it ends. */

/** How long a request may be held open for a command's end, in seconds. */
export const WAIT_SECONDS_MAX = 60;
/** A deadline further ahead is no deadline. */
const DEADLINE_SECONDS_MAX = 30 * 86_400;
/** Every command costs its tenant one token. */
export const COMMAND_COST = 1;

/** The body of a new command, for the intents that this deployment takes. */
export function newCommandBody(config: Config) {
  return z.strictObject({
    intent: intentSchema(config),
    payload: jsonObject.default({}),
    deadlineSeconds: z
      .number()
      .positive()
      .max(DEADLINE_SECONDS_MAX)
      .optional()
      .describe("If it has not begun by then it expires, and never does."),
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
  const { intent, payload: given, deadlineSeconds } = body;
  const payload = checkPayload(config, intent, given, ["payload"]);
  if ("code" in payload) return problem(c, payload);
  const preferred = waitSeconds === undefined ? preferredWaitSeconds(c.req.header("Prefer")) : undefined;
  const waitMs = 1000 * (waitSeconds ?? preferred ?? 0);
  const sent = await sendCommand(c, config, {
    intent,
    payload: payload.value,
    payloadText: config.executor === "upstream" ? memberText(c.get("bodyText") ?? "", "payload") : undefined,
    deadlineMs: deadlineSeconds === undefined ? null : Math.ceil(deadlineSeconds * 1000),
    waitMs,
    cost: COMMAND_COST,
    said: { intent, payload: given, deadlineSeconds: deadlineSeconds ?? null },
  });
  switch (sent.kind) {
    case "refused":
      return problem(c, sent.problem);
    case "answered":
      return sent.response;
    case "repeated":
      return answerFirst(c, sent.answer, { "Idempotency-Replayed": "true" });
    case "accepted": {
      const { command, deferred, key } = sent;
      const applied: Headings = preferred === undefined ? {} : { "Preference-Applied": `wait=${preferred}` };
      const later = waitMs > 0 ? await awaitEnd(c, config, command, waitMs, key) : null;
      const first = later ? answerFor(later) : ({ told: deferred ? "deferred" : "accepted", ...command } as const);
      return answerFirst(c, first, applied);
    }
  }
}

/** The one form of each answer, so that a repeat is the first one again, word for word. */
function answerFirst(c: Context<AppEnv>, first: FirstAnswer, headings: Headings): Response {
  if (first.told === "ended") return answer(c, 200, "application/json", commandJson(first.command), headings);
  const { commandId, state, queuedAhead = 0, estimatedWaitSeconds = 0 } = first;
  const statusUrl = `/v1/commands/${commandId}`;
  const body = { commandId, state, statusUrl, queuedAhead, estimatedWaitSeconds };
  const located = { ...headings, Location: statusUrl };
  return first.told === "accepted"
    ? answerJson(c, body, 202, located)
    : answerJson(c, { ...body, deferred: true }, 201, located);
}

/**
 * `wait` of a `Prefer` field (RFC 7240): the first counts. A preference that cannot be honoured is passed over, never an
 * error.
 *
 * @returns whole seconds, {@link WAIT_SECONDS_MAX} at the most; undefined where there is none
 */
function preferredWaitSeconds(prefer = ""): number | undefined {
  // Of texts in quotes only digits are of interest: a comma in another one separates nothing.
  const plain = prefer.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => /^"(\d*)"$/.exec(quoted)?.[1] ?? "_");
  for (const preference of plain.split(",")) {
    const wait = /^\s*wait\s*=\s*(\d{1,9})\s*(?:;|$)/i.exec(preference)?.[1];
    if (wait !== undefined) return Math.min(Number(wait), WAIT_SECONDS_MAX);
  }
  return undefined;
}
