import { createContext } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { type Polling, startPolling } from "../shared/polling.ts";
import { type Answer, askAdmin, type Fault, type Method } from "./admin.ts";
import type { SignedIn } from "./session.ts";

/** What every part of the dashboard has at hand: whose token it is, asking with it, and what was read lately. */

export interface Desk {
  readonly session: SignedIn;
  /** Whether changes may be offered at all. */
  readonly mayWrite: boolean;
  /** Asks once. A token that holds no more signs out. */
  ask<T>(method: Method, path: string, body?: unknown): Promise<Answer<T>>;
  /** As {@link ask}, for a change: everything that is shown is read again after it. */
  change<T>(method: Method, path: string, body?: unknown): Promise<Answer<T>>;
  /** Grows with every change that was made here. */
  readonly changes: number;
  /** Has everything that is shown read again. */
  changed(): void;
}

export const DeskContext = createContext<Desk | null>(null);

export function useDesk(): Desk {
  const desk = useContext(DeskContext);
  if (desk === null) throw new Error("outside of the signed-in page");
  return desk;
}

/** The desk of a session. @param onRefused the token holds no more */
export function useNewDesk(session: SignedIn, onRefused: (fault: Fault) => void): Desk {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(
    async <T>(method: Method, path: string, body?: unknown): Promise<Answer<T>> => {
      const answer = await askAdmin<T>(session.token, method, path, body);
      if (answer.kind === "problem" && answer.status === 401) onRefused(answer);
      return answer;
    },
    [session.token, onRefused],
  );
  const changed = useCallback(() => setChanges((n) => n + 1), []);
  const change = useCallback(
    async <T>(method: Method, path: string, body?: unknown): Promise<Answer<T>> => {
      const answer = await ask<T>(method, path, body);
      changed();
      return answer;
    },
    [ask, changed],
  );
  return { session, mayWrite: session.actor === "admin", ask, change, changes, changed };
}

/** Something that is read again and again. */
export interface Reading<T> {
  /** The last good answer; null before the first. */
  readonly value: T | null;
  /** What the last question met; null: it was answered. */
  readonly fault: Fault | null;
  /** When the value was answered, Unix milliseconds. */
  readonly atMs: number;
  /** When the trouble began, Unix milliseconds; null while there is none. */
  readonly failingSinceMs: number | null;
}

const NOTHING_YET = { value: null, fault: null, atMs: 0, failingSinceMs: null };

/** Reads a route every so often, after every change made here, and at once when the page is looked at again. */
export function useReading<T>(path: string, everyMs: number): Reading<T> {
  const { ask, changes } = useDesk();
  const [reading, setReading] = useState<Reading<T>>(NOTHING_YET);
  const polling = useRef<Polling | null>(null);
  useEffect(() => {
    const one = async () => {
      const answer = await ask<T>("GET", path);
      const atMs = Date.now();
      setReading((last) =>
        answer.kind === "ok"
          ? { value: answer.body, fault: null, atMs, failingSinceMs: null }
          : { ...last, fault: answer, failingSinceMs: last.failingSinceMs ?? atMs },
      );
      return answer.kind === "ok";
    };
    const started = startPolling(everyMs, one, () => document.hidden);
    const look = () => !document.hidden && started.now();
    document.addEventListener("visibilitychange", look);
    window.addEventListener("online", look);
    polling.current = started;
    return () => {
      started.stop();
      document.removeEventListener("visibilitychange", look);
      window.removeEventListener("online", look);
    };
  }, [ask, path, everyMs]);
  useEffect(() => polling.current?.now(), [changes]);
  return reading;
}
