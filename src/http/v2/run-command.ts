import type { Context } from "hono";
import type { Config } from "../../config.ts";
import type { CommandView } from "../../core/command.ts";
import type { CommandRoute } from "../../core/engine-routes.ts";
import { type JsonObject, objectOf } from "../../core/json.ts";
import type { AnyProblem } from "../../core/problem.ts";
import type { Acceptance } from "../../durable/submission.ts";
import { note } from "../answer.ts";
import type { AppEnv } from "../app-env.ts";
import { type AtDoor, awaitEnd, checkPayload, sendCommand } from "../command-door.ts";
import { problem } from "../problem.ts";

/**
 * A route's command from the door to its end, and what its end means to a client of the engine. The client is held
 * until then: it knows of no command that is still under way.
 */

/** As long as a command of `/v1` may be held open. */
export const COMMAND_WAIT_MS = 60_000;
/** A wait that breaks off because the engine restarts is taken up again, so often. */
const WAITS_MAX = 3;

/** Runs a command to its end. @returns its result, or the answer to give */
export async function runCommand(
  c: Context<AppEnv>,
  config: Config,
  route: CommandRoute,
  payload: JsonObject,
): Promise<JsonObject | Response> {
  const { method, path, intent, cost, critical } = route;
  const checked = checkPayload(config, intent, payload, []);
  if ("code" in checked) return problem(c, checked);
  const said = { method, path, payload };
  // One that nobody waits for any more is not begun, unless it relieves the engine.
  const deadlineMs = critical ? null : COMMAND_WAIT_MS;
  const command = { intent, payload: checked.value, deadlineMs, waitMs: COMMAND_WAIT_MS, cost, said };
  const ended = await endOfSent(c, config, route, await sendCommand(c, config, command));
  return ended instanceof Response ? ended : resultOf(c, ended);
}

/** The command after its end, or the answer to give because there is none. */
export async function endOfSent(
  c: Context<AppEnv>,
  config: Config,
  route: CommandRoute,
  sent: AtDoor,
): Promise<CommandView | Response> {
  switch (sent.kind) {
    case "answered":
      return sent.response;
    case "refused": {
      // A client that hears "nothing was done" sends again at once; here nobody knows, and sent twice it is done twice.
      const unknown = sent.engineSilent && !route.repeatable;
      return problem(c, unknown ? UNKNOWN_FATE : sent.problem);
    }
    case "repeated":
      note(c, "Idempotency-Replayed", "true");
      return sent.answer.told === "ended" ? sent.answer.command : await endOfAccepted(c, config, sent.answer, null);
    case "accepted":
      return await endOfAccepted(c, config, sent.command, sent.key);
  }
}

async function endOfAccepted(
  c: Context<AppEnv>,
  config: Config,
  command: CommandView | Acceptance,
  key: string | null,
): Promise<CommandView | Response> {
  const untilMs = Date.now() + COMMAND_WAIT_MS;
  let stands: CommandView | Acceptance = command;
  for (let waits = 0; waits < WAITS_MAX; waits++) {
    const waitMs = Math.max(1, untilMs - Date.now());
    const view = await awaitEnd(c, config, command, waitMs, key);
    if (view?.finishedAt !== undefined) return view;
    stands = view ?? stands;
  }
  const { commandId, state, estimatedWaitSeconds: seconds = 0 } = stands;
  const where = state === "queued" ? `is queued, for about ${seconds} s more` : "is under way";
  const detail = `Command ${commandId} is accepted and ${where}. It will end without being sent again.`;
  return problem(c, { code: "deadline_exceeded", detail });
}

/** What a command that has ended gives, or the answer that its failure is. */
export function resultOf(c: Context<AppEnv>, command: CommandView): JsonObject | Response {
  switch (command.state) {
    case "succeeded":
      return command.result === undefined ? {} : objectOf(command.result);
    case "failed":
      return problem(c, problemOf(command.error?.code ?? "", command.error?.message ?? "The engine has refused it."));
    case "cancelled":
      return problem(c, { code: "conflict", detail: "The command was cancelled before it began." });
    case "expired":
      return problem(c, TOO_LATE);
    case "dead":
    case "queued":
    case "running":
      return problem(c, { code: "internal" });
  }
}

/** What the engine's rules say, by their codes. */
function problemOf(code: string, detail: string): AnyProblem {
  switch (code) {
    case "not_found":
    case "already_exists":
      return { code, detail };
    case "invalid_argument":
      return { code: "invalid_request", detail };
    default:
      return { code: "conflict", detail };
  }
}

const UNKNOWN_FATE: AnyProblem = {
  code: "deadline_exceeded",
  detail: "The engine restarted before it answered. Whether it has taken the command is not known.",
};
const TOO_LATE: AnyProblem = {
  code: "queue_full",
  detail: "The command waited in the queue as long as its caller would, and was not begun. Everyone has to wait.",
  retryAfterSeconds: 5,
};
