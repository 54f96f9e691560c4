import type { Json } from "../core/json.ts";
import { type CallOptions, call, type Request, shared } from "./call.ts";
import { type CommandOptions, cancel, JSON_BODY, readCommand, type SendOptions, send } from "./commands.ts";
import { decodeCheck, decodeLimits, decodeQueue } from "./decode.ts";
import type { IntentName, PayloadOf } from "./intents.ts";
import type { Result } from "./result.ts";
import { type ClientOptions, checkedWhole, settingsOf } from "./settings.ts";
import type { CheckDecision, Command, CommandRef, EndedCommand, OwnLimits, QueueStatus, Sent } from "./values.ts";
import { type RunOptions, run, wait } from "./wait.ts";

/**
 * The client: one method a route, and two that wait. Each gives a {@link Result} and rejects only with a `TypeError` for
 * arguments that cannot be meant. It holds no connection and no timer between calls, so that it can be made once, also
 * in the module scope of a Worker.
 */

export interface Client {
  /**
   * `POST /v1/commands`: has a command accepted. It is on disk when this gives a value; its end may come later.
   *
   * @param intent what it wants
   * @param payload what the intent takes, as JSON
   */
  send<I extends IntentName>(intent: I, payload: PayloadOf<I>, options?: SendOptions): Promise<Result<Sent<I>>>;

  /**
   * Sends a command and waits for its end. That a command failed is its end, not an error of the call.
   *
   * @param options `totalMs` (300 000) bounds the wait; a `timeout` after the acceptance carries the `commandId`
   */
  run<I extends IntentName>(intent: I, payload: PayloadOf<I>, options?: RunOptions): Promise<Result<EndedCommand<I>>>;

  /** `GET /v1/commands/{id}`: a command as it stands. With what `send` gave instead of an id, its result is typed. */
  command<I extends string>(command: string | CommandRef<I>, options?: CommandOptions): Promise<Result<Command<I>>>;

  /** Waits for a command's end, as `run` does for one that was sent before. */
  wait<I extends string>(command: string | CommandRef<I>, options?: CallOptions): Promise<Result<EndedCommand<I>>>;

  /** `DELETE /v1/commands/{id}`: cancels it while it is queued; `conflict` when it runs or has ended. */
  cancel(command: string | CommandRef, options?: CallOptions): Promise<Result<undefined>>;

  /**
   * `POST /v1/check`: charges a cost, or says why not; both are values. Only a refusal to answer is tried again: an
   * answer that was lost may have been charged, and a repeat would charge twice.
   *
   * @param check `cost` in whole tokens, 1 by default; `key` names whose use is counted by limits of scope `key`
   */
  check(check?: CheckInput, options?: CallOptions): Promise<Result<CheckDecision>>;

  /** `GET /v1/limits`: the caller's own limits and what is left. Charges nothing. */
  limits(options?: CallOptions): Promise<Result<OwnLimits>>;

  /** `GET /v1/queue`: how the engine stands, for all tenants together. */
  queue(options?: CallOptions): Promise<Result<QueueStatus>>;
}

export interface CheckInput {
  readonly cost?: number | undefined;
  readonly key?: string | undefined;
}

/**
 * Makes a client. Its calls share one retry budget, so make one for each deployment that is called, not one a call.
 *
 * @throws {TypeError} for an option that cannot be meant, which it names
 */
export function createClient(options: ClientOptions): Client {
  const client = shared(settingsOf(options));
  return {
    send: (intent, payload, options = {}) => send(client, intent, payload, options),
    run: (intent, payload, options = {}) => run(client, intent, payload, options),
    command: (command, options = {}) => readCommand(client, command, options),
    wait: (command, options = {}) => wait(client, command, options),
    cancel: (command, options = {}) => cancel(client, command, options),
    check: async (check = {}, options = {}) => call(client, checkRequest(check), options),
    limits: (options = {}) => call(client, readRequest("/v1/limits", decodeLimits), options),
    queue: (options = {}) => call(client, readRequest("/v1/queue", decodeQueue), options),
  };
}

function readRequest<T>(path: string, decode: (json: Json | undefined) => T | null): Request<T> {
  return { ...NO_COMMAND, method: "GET", path, body: null, repeatable: true, decode: (_status, json) => decode(json) };
}

function checkRequest({ cost = 1, key }: CheckInput): Request<CheckDecision> {
  const body = JSON.stringify({ cost: checkedWhole("cost", cost, 0), key });
  const decode: Request<CheckDecision>["decode"] = (_status, json) => decodeCheck(json);
  return { ...NO_COMMAND, method: "POST", path: "/v1/check", headers: JSON_BODY, body, repeatable: false, decode };
}

const NO_COMMAND = { headers: {}, waitSeconds: 0, commandId: null, idempotencyKey: null };
