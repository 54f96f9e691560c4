import type { CommandEngine } from "./command-engine.ts";
import type { Calls } from "./stubs.ts";

/** Callers that hang up while an engine holds their request. */

/** How a route hears that its caller has gone, and keeps a task alive past the answer. */
export interface HangUp {
  readonly signal: AbortSignal;
  readonly afterwards: (task: Promise<unknown>) => void;
}

/** The caller has hung up, and the engine was not asked. No failure of any part. */
export class CallerGone extends Error {
  override readonly name = "CallerGone";
}

/**
 * Calls an engine that may take its time; a caller that goes meanwhile leaves nothing behind there.
 *
 * @throws CallerGone for a caller that has gone before
 */
export async function whileCallerWaits<T>(
  engine: Pick<Calls<CommandEngine>, "abandon">,
  token: string,
  { signal, afterwards }: HangUp,
  call: () => Promise<T>,
): Promise<T> {
  const abandon = () => afterwards(abandonWait(engine, token));
  signal.addEventListener("abort", abandon);
  try {
    // A caller that left before this has no event to come.
    if (signal.aborted) throw new CallerGone();
    return await call();
  } finally {
    signal.removeEventListener("abort", abandon);
  }
}

/** Never rejects: what is not abandoned waits in the engine until its own deadline. */
async function abandonWait(engine: Pick<Calls<CommandEngine>, "abandon">, token: string): Promise<void> {
  try {
    await engine.abandon(token);
  } catch (error) {
    console.warn(JSON.stringify({ event: "wait_not_abandoned", error: String(error) }));
  }
}
