import { type CommandState, END_STATES } from "../core/command.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { AcceptedCommand, CheckDecision, Command, EndedCommand, OwnLimits, QueueStatus, Sent } from "./values.ts";

/**
 * The JSON of a success as the value that a call gives. Checks what a caller decides by; what else the server says is
 * let through as it is, so that a newer server can say more. Null: not of this form, so not an answer of Headgate.
 */

const STATES: ReadonlySet<unknown> = new Set<CommandState>(["queued", "running", ...END_STATES]);
const ENDS: ReadonlySet<unknown> = new Set(END_STATES);

/** @param intent what the command is known to want; null: whatever it says */
export function decodeCommand<I extends string>(json: Json | undefined, intent: I | null): Command<I> | null {
  if (!isJsonObject(json)) return null;
  const { commandId, intent: named, state, acceptedAt, finishedAt, result = {}, error } = json;
  if (!isText(commandId) || !isText(named) || !STATES.has(state) || !isText(acceptedAt)) return null;
  if (intent !== null && named !== intent) return null;
  if (!ENDS.has(state)) return checked<Command<I>>(json);
  if (!isText(finishedAt)) return null;
  if (state === "succeeded") return isJsonObject(result) ? checked<Command<I>>({ ...json, result }) : null;
  const explained = isJsonObject(error) && isText(error.code) && isText(error.message);
  // Who failed is told why; who was dropped need not be.
  return explained || (error === undefined && (state === "cancelled" || state === "expired"))
    ? checked<Command<I>>(json)
    : null;
}

/** The answer to a command that was sent: with status 200 its end, else its acceptance. */
export function decodeSent<I extends string>(status: number, json: Json | undefined, intent: I): Sent<I> | null {
  if (status === 200) {
    const command = decodeCommand(json, intent);
    if (command === null || !isEnded(command)) return null;
    return { outcome: "ended", commandId: command.commandId, intent, command };
  }
  if (!isJsonObject(json)) return null;
  const { commandId, state, statusUrl, queuedAhead, estimatedWaitSeconds, deferred } = json;
  if (!isText(commandId) || !STATES.has(state) || !isText(statusUrl)) return null;
  if (!isCount(queuedAhead) || !isCount(estimatedWaitSeconds)) return null;
  const outcome: AcceptedCommand["outcome"] = deferred === true ? "deferred" : "accepted";
  return checked<Sent<I>>({ ...json, outcome, intent });
}

/** True for a command that will not change any more. */
export function isEnded<I extends string>(command: Command<I>): command is EndedCommand<I> {
  return ENDS.has(command.state);
}

export function decodeCheck(json: Json | undefined): CheckDecision | null {
  if (!isJsonObject(json) || !isCount(json.remaining) || !Array.isArray(json.policies)) return null;
  const { allowed, code, retryAfterSeconds, violated } = json;
  const known =
    allowed === true ||
    (allowed === false &&
      Array.isArray(violated) &&
      (code === "cost_exceeds_capacity" || (code === "rate_limited" && isCount(retryAfterSeconds))));
  return known ? checked<CheckDecision>(json) : null;
}

export function decodeLimits(json: Json | undefined): OwnLimits | null {
  if (!isJsonObject(json) || !isText(json.tenant) || !Array.isArray(json.policies)) return null;
  return checked<OwnLimits>(json);
}

export function decodeQueue(json: Json | undefined): QueueStatus | null {
  if (!isJsonObject(json) || !isCount(json.depth) || !isCount(json.bound) || !isJsonObject(json.counters)) return null;
  return checked<QueueStatus>(json);
}

/** JSON whose form was looked at: the one place where it gets its type. */
function checked<T>(json: JsonObject): T {
  return json as T;
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && value >= 0;
}
