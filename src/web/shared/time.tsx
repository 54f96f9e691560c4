import { useEffect, useState } from "preact/hooks";
import { relative } from "./numbers.ts";

/** Times, both ways: how long ago, and when by the reader's own clock. */

/** The time now, Unix milliseconds, and a new drawing every so often. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** "2026-11-30 03:12:45", by the reader's clock. */
export function clockTime(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

const REDRAWN_EVERY_MS = 5_000;
/** The two clocks need not agree: what is so little ahead has just happened. */
const AHEAD_MS_MAX = 60_000;

/** @param at ISO 8601 */
export function Time({ at }: { readonly at: string }) {
  const now = useNow(REDRAWN_EVERY_MS);
  const ms = Date.parse(at);
  const ago = now < ms && ms - now < AHEAD_MS_MAX ? 0 : now - ms;
  return (
    <time class="time num" dateTime={at} title={at}>
      <span>{relative(ago)}</span> <span class="muted">{clockTime(ms)}</span>
    </time>
  );
}
