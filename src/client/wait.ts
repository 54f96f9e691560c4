import { type CallOptions, clockOf, failed, type Shared } from "./call.ts";
import { readCommand, type SendOptions, send, WAIT_SECONDS_MAX } from "./commands.ts";
import { isEnded } from "./decode.ts";
import type { IntentName, PayloadOf } from "./intents.ts";
import type { Result } from "./result.ts";
import { checkedMs } from "./settings.ts";
import type { CommandRef, EndedCommand } from "./values.ts";

/**
 * Waiting for a command's end over as many held requests as it takes. The server may answer a held request early (it
 * holds only so many); then this waits by itself, so that a crowd that waits does not become a crowd that asks.
 */

/** What `run` may be told; its wait is its own. */
export type RunOptions = Omit<SendOptions, "waitSeconds">;

/** Sends a command and waits for its end. @throws {TypeError} as `send` does */
export async function run<I extends IntentName>(
  client: Shared,
  intent: I,
  payload: PayloadOf<I>,
  options: RunOptions,
): Promise<Result<EndedCommand<I>>> {
  const totalMs = checkedMs("totalMs", options.totalMs ?? client.settings.waitTotalMs);
  const time = clockOf(client, totalMs);
  const sent = await send(client, intent, payload, { ...options, totalMs, waitSeconds: holdSeconds(totalMs) });
  if (!sent.ok) return sent;
  const { value, meta } = sent;
  if (value.outcome === "ended") return { ok: true, value: value.command, meta };
  return untilEnded(client, value, options, time, meta.attempts);
}

/** Waits for the end of a command that was sent before. @throws {TypeError} for what is no id */
export async function wait<I extends string>(
  client: Shared,
  command: string | CommandRef<I>,
  options: CallOptions,
): Promise<Result<EndedCommand<I>>> {
  const time = clockOf(client, checkedMs("totalMs", options.totalMs ?? client.settings.waitTotalMs));
  return untilEnded(client, command, options, time, 0);
}

/** @param askedBefore requests that the call has made already */
async function untilEnded<I extends string>(
  client: Shared,
  command: string | CommandRef<I>,
  { signal, timeoutMs }: CallOptions,
  time: { leftMs(): number },
  askedBefore: number,
): Promise<Result<EndedCommand<I>>> {
  const { settings } = client;
  const commandId = typeof command === "string" ? command : command.commandId;
  let attempts = askedBefore;
  for (let leftMs = time.leftMs(); leftMs > 0; leftMs = time.leftMs()) {
    const waitSeconds = holdSeconds(leftMs);
    const shown = await readCommand(client, command, { signal, timeoutMs, totalMs: leftMs, waitSeconds });
    if (!shown.ok) return { ok: false, error: { ...shown.error, attempts: attempts + shown.error.attempts } };
    attempts += shown.meta.attempts;
    const { value } = shown;
    if (isEnded(value)) return { ok: true, value, meta: { ...shown.meta, attempts } };
    const heldMs = leftMs - time.leftMs();
    const pauseMs = pollPauseMs(waitSeconds * 1000, heldMs, value.estimatedWaitSeconds ?? 0, settings.random());
    if (pauseMs > 0 && time.leftMs() > 0) {
      await settings.sleep(Math.min(pauseMs, time.leftMs()), signal).catch(() => undefined);
    }
  }
  const detail = "The command has not ended in time. It goes on, and can be asked for or waited for again.";
  const fault = { code: "timeout", detail, requestId: null } as const;
  return failed({ commandId, idempotencyKey: null }, fault, { attempts, gaveUp: "time", previous: null });
}

/** Kept of a call's time for the answer's way, so that even the last held request is heard. */
const ANSWER_MS = 1000;

/** How long the server may hold a request of a call that has so much time left, in whole seconds. */
function holdSeconds(leftMs: number): number {
  return Math.min(WAIT_SECONDS_MAX, Math.max(0, Math.floor((leftMs - ANSWER_MS) / 1000)));
}

const POLL_MS_MIN = 500;
const POLL_MS_MAX = 5_000;

/**
 * How long to pause before asking again for a command that has not ended.
 *
 * @param askedMs how long the server was asked to hold the request
 * @param heldMs how long it did
 * @param estimatedWaitSeconds what it says is left
 * @param random in [0, 1)
 * @returns milliseconds; 0 when the server held it, for then it has waited for us
 */
export function pollPauseMs(askedMs: number, heldMs: number, estimatedWaitSeconds: number, random: number): number {
  if (heldMs >= Math.max(POLL_MS_MIN, askedMs / 2)) return 0;
  const most = Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, (estimatedWaitSeconds * 1000) / 2));
  return Math.floor(most * (0.5 + random / 2));
}
