import type { Context } from "hono";
import type { AppEnv } from "../app-env.ts";

/**
 * An answer that may take long, for a caller whose going must be noticed. A closed connection shows when something is
 * written to it, so while the answer is awaited its body begins with blanks, which JSON allows. Its status is then said
 * before it is known; so what would have been a refusal is `otherwise`, and the next request hears the refusal.
 */

/** How soon it is noticed, in milliseconds: a job that comes in between goes to nobody until its lease runs out. */
const BEAT_MS = 300;
/** What a worker's poll is answered when there is nothing to tell. */
export const NO_JOBS = JSON.stringify({ jobs: [] });
const BLANK = new TextEncoder().encode(" ");

/**
 * @param answering makes the answer; `gone` aborts when the caller is no longer there
 * @param otherwise what is said in place of anything but a 200, once the status has been said
 */
export async function heldAnswer(
  c: Context<AppEnv>,
  otherwise: string,
  answering: (gone: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const gone = new AbortController();
  const answer = answering(AbortSignal.any([c.req.raw.signal, gone.signal]));
  const soon = await withinBeat(answer);
  if (soon !== null) return soon;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  c.executionCtx.waitUntil(writeLater(writable.getWriter(), answer, otherwise, gone));
  return c.body(readable, 200, { "Content-Type": "application/json" });
}

async function writeLater(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  answer: Promise<Response>,
  otherwise: string,
  gone: AbortController,
): Promise<void> {
  const text = answer.then(
    (response) => (response.status === 200 ? response.text() : otherwise),
    (error: unknown) => {
      console.error(JSON.stringify({ event: "held_answer_failed", error: String(error) }));
      return otherwise;
    },
  );
  try {
    let said: string | null = null;
    while (said === null) {
      await writer.write(BLANK);
      said = await withinBeat(text);
    }
    await writer.write(new TextEncoder().encode(said));
    await writer.close();
  } catch {
    // There is nobody to write to.
    gone.abort();
    await text;
  }
}

/** Null: not yet. */
async function withinBeat<T>(answer: Promise<T>): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), BEAT_MS);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
