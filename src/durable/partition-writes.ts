import type { Config } from "../config.ts";
import type { CommandEngine } from "./command-engine.ts";
import { allEngines } from "./engines.ts";
import type { Calls } from "./stubs.ts";

/** Calls of every partition of the engine, of which each may fail by itself. */

/** Partitions by number, from 1, as they are in keys and metrics. */
export interface PartitionsReached {
  readonly confirmed: readonly number[];
  /** Those that did not answer: whether they did what they were asked is not known. */
  readonly unconfirmed: readonly number[];
}

export interface PartitionAnswers<T> extends PartitionsReached {
  /** Of those that confirmed, in order. */
  readonly answers: readonly T[];
  /** Why each of the others did not, in order. */
  readonly failures: readonly unknown[];
}

/** Calls every partition. One that fails keeps none of the others from its answer. Never rejects. */
export async function callEveryEngine<T>(
  env: Env,
  config: Config,
  call: (engine: Calls<CommandEngine>) => Promise<T>,
): Promise<PartitionAnswers<T>> {
  const settled = await Promise.allSettled(allEngines(env, config).map(call));
  const numbered = (status: "fulfilled" | "rejected") =>
    settled.flatMap((one, n) => (one.status === status ? [n + 1] : []));
  return {
    confirmed: numbered("fulfilled"),
    unconfirmed: numbered("rejected"),
    answers: settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])),
    failures: settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : [])),
  };
}
