/**
 * Asking for the same thing again and again without being a burden: one question at a time, rarely while nobody looks,
 * and ever more rarely while nothing answers.
 */

/** While the page is hidden: often enough that it is not wholly blind when it is looked at again. */
export const HIDDEN_EVERY_MS = 15_000;
/** The longest wait after failures: an operator should see the end of an outage within it. */
export const FAILING_EVERY_MS_MAX = 15_000;

/**
 * @param everyMs the pace while all is well and looked at
 * @param failures answers missed in a row
 * @returns when to ask next, in milliseconds from the last answer
 */
export function nextPollMs(everyMs: number, failures: number, hidden: boolean): number {
  const failing = failures === 0 ? everyMs : Math.min(Math.max(FAILING_EVERY_MS_MAX, everyMs), everyMs * 2 ** failures);
  return hidden ? Math.max(HIDDEN_EVERY_MS, failing) : failing;
}

export interface Polling {
  /** Asks at once; while a question is under way, once more as soon as it is answered. */
  now(): void;
  stop(): void;
}

/**
 * @param ask one question; true when it was answered. It must not throw
 * @param isHidden whether nobody looks
 */
export function startPolling(everyMs: number, ask: () => Promise<boolean>, isHidden: () => boolean): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isAskedAgain = false;
  let state: "waiting" | "asking" | "stopped" = "waiting";

  async function turn(): Promise<void> {
    isAskedAgain = state === "asking";
    if (state !== "waiting") return;
    clearTimeout(timer);
    state = "asking";
    failures = (await ask()) ? 0 : failures + 1;
    if (isStopped()) return;
    state = "waiting";
    timer = setTimeout(turn, isAskedAgain ? 0 : nextPollMs(everyMs, failures, isHidden()));
  }
  // Asked through a function, because it may have changed while turn() waited.
  const isStopped = () => state === "stopped";

  void turn();
  return {
    now: () => void turn(),
    stop: () => {
      state = "stopped";
      clearTimeout(timer);
    },
  };
}
