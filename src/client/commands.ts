import { type CallOptions, call, clockOf, type Request, type Shared } from "./call.ts";
import { decodeCommand, decodeSent } from "./decode.ts";
import type { IntentName, PayloadOf } from "./intents.ts";
import type { Result } from "./result.ts";
import { checkedWhole } from "./settings.ts";
import type { Command, CommandRef, Sent } from "./values.ts";

/** The calls of `/v1/commands`, one request each (and its repeats). Waiting for an end over several is `wait.ts`. */

/** How long the server holds a request at most, in seconds. */
export const WAIT_SECONDS_MAX = 60;

export interface SendOptions extends CallOptions {
  /** Hold the answer until the command has ended, at most so many whole seconds: 0 (the default) to 60. */
  readonly waitSeconds?: number | undefined;
  /** Do not run it if it has not begun within so many seconds (> 0): it then ends as `expired`. */
  readonly deadlineSeconds?: number | undefined;
  /**
   * The caller's own name for this command, 1 to 255 printable ASCII characters; by default a random one for each call.
   * False: none is sent, and then only a refusal is tried again.
   */
  readonly idempotencyKey?: string | false | undefined;
}

export interface CommandOptions extends CallOptions {
  /** Hold the answer until the command has ended, at most so many whole seconds: 0 (the default) to 60. */
  readonly waitSeconds?: number | undefined;
}

/** `POST /v1/commands`. @throws {TypeError} for options or a payload that cannot be sent */
export async function send<I extends IntentName>(
  client: Shared,
  intent: I,
  payload: PayloadOf<I>,
  options: SendOptions,
): Promise<Result<Sent<I>>> {
  const { waitSeconds = 0, deadlineSeconds } = options;
  checkedWhole("waitSeconds", waitSeconds, 0, WAIT_SECONDS_MAX);
  if (deadlineSeconds !== undefined && !(deadlineSeconds > 0 && deadlineSeconds < Infinity)) {
    throw new TypeError(`deadlineSeconds must be a number over 0, not ${deadlineSeconds}`);
  }
  const idempotencyKey = options.idempotencyKey === false ? null : (options.idempotencyKey ?? randomKey());
  const request: Request<Sent<I>> = {
    method: "POST",
    path: "/v1/commands",
    headers: {
      ...JSON_BODY,
      ...(waitSeconds > 0 ? { Prefer: `wait=${waitSeconds}` } : {}),
      ...(idempotencyKey === null ? {} : { "Idempotency-Key": writeKey(idempotencyKey) }),
    },
    // Written once: the server compares bodies, and a repeat must not be another one.
    body: JSON.stringify({ intent, payload, deadlineSeconds }),
    waitSeconds,
    repeatable: idempotencyKey !== null,
    commandId: null,
    idempotencyKey,
    decode: (status, json) => decodeSent(status, json, intent),
  };
  return call(client, request, options);
}

/** `GET /v1/commands/{id}`. */
export async function readCommand<I extends string>(
  client: Shared,
  command: string | CommandRef<I>,
  options: CommandOptions,
): Promise<Result<Command<I>>> {
  const { waitSeconds = 0 } = options;
  checkedWhole("waitSeconds", waitSeconds, 0, WAIT_SECONDS_MAX);
  const { commandId, intent } = typeof command === "string" ? { commandId: command, intent: null } : command;
  const path = pathOf(commandId) + (waitSeconds > 0 ? `?wait=${waitSeconds}` : "");
  const decode: Request<Command<I>>["decode"] = (_status, json) => decodeCommand(json, intent);
  return call(client, { ...about(commandId), method: "GET", path, waitSeconds, decode }, options);
}

/** `DELETE /v1/commands/{id}`. */
export async function cancel(
  client: Shared,
  command: string | CommandRef,
  options: CallOptions,
): Promise<Result<undefined>> {
  const commandId = typeof command === "string" ? command : command.commandId;
  const decode = () => CANCELLED;
  const request = { ...about(commandId), method: "DELETE", path: pathOf(commandId), waitSeconds: 0, decode } as const;
  const time = clockOf(client, options.totalMs ?? client.settings.retry.totalMs);
  const cancelled = await call(client, request, options);
  if (cancelled.ok) return { ...cancelled, value: undefined };
  const { error } = cancelled;
  if (error.code !== "conflict" || error.attempts === 1 || time.leftMs() <= 0) return cancelled;
  // An earlier try may have cancelled it before its answer was lost, and then this one found it no longer queued.
  const found = await readCommand(client, commandId, { ...options, totalMs: time.leftMs() });
  if (!found.ok || found.value.state !== "cancelled") return cancelled;
  return { ok: true, value: undefined, meta: { ...found.meta, attempts: error.attempts + found.meta.attempts } };
}

/** A 204 has no value, and null would say that the answer is of the wrong form. */
const CANCELLED = true;

export const JSON_BODY = { "Content-Type": "application/json" };

function about(commandId: string) {
  return { headers: {}, body: null, repeatable: true, commandId, idempotencyKey: null };
}

/** @throws {TypeError} for what is no id: in a path it would lead somewhere else */
function pathOf(commandId: string): string {
  if (/^\.{0,2}$/.test(commandId)) throw new TypeError(`${JSON.stringify(commandId)} is not a command's id`);
  return `/v1/commands/${encodeURIComponent(commandId)}`;
}

const KEY = /^[\x20-\x7e]{1,255}$/;

/** @throws {TypeError} */
function writeKey(key: string): string {
  if (!KEY.test(key)) throw new TypeError("idempotencyKey must be 1 to 255 printable ASCII characters");
  // A quoted string, as the draft has it: spaces at its ends and quotes in it arrive as they are.
  return `"${key.replace(/["\\]/g, "\\$&")}"`;
}

/** 128 bits of chance. `crypto.randomUUID` would do, but is missing from pages that came without TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
