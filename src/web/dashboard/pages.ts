import { useState } from "preact/hooks";
import type { Fault } from "./admin.ts";
import { type Reading, useDesk, useReading } from "./context.ts";

/** Lists that come a page at a time: the first is read again and again, more are read when they are asked for. */

export interface Pages<T> {
  /** All that was read, the first page as it is now; null before the first answer. */
  readonly items: readonly T[] | null;
  readonly fault: Fault | null;
  /** Reads one more page; null where there is none. */
  readonly more: (() => Promise<void>) | null;
}

export interface PagedRoute<A, T> {
  readonly path: string;
  readonly everyMs: number;
  readonly itemsOf: (answer: A) => readonly T[];
  /** The address of the page after an answer; null: it was the last. */
  readonly nextOf: (answer: A) => string | null;
  readonly keyOf: (item: T) => string | number;
}

export function usePages<A, T>(route: PagedRoute<A, T>): Pages<T> {
  const { ask } = useDesk();
  const first: Reading<A> = useReading<A>(route.path, route.everyMs);
  const [later, setLater] = useState<readonly A[]>([]);
  const [fault, setFault] = useState<Fault | null>(null);
  if (first.value === null) return { items: null, fault: first.fault, more: null };
  const answers = [first.value, ...later];
  // What has moved from one page to another since it was read is shown once.
  const byKey = new Map(answers.flatMap((answer) => route.itemsOf(answer).map((item) => [route.keyOf(item), item])));
  const next = route.nextOf(answers.at(-1) ?? first.value);
  const more = async () => {
    const answer = await ask<A>("GET", next ?? route.path);
    if (answer.kind !== "ok") return setFault(answer);
    setFault(null);
    setLater((pages) => [...pages, answer.body]);
  };
  return { items: [...byKey.values()], fault: first.fault ?? fault, more: next === null ? null : more };
}
