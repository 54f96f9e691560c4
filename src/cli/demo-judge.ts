import type { BurstAnswer } from "./burst-run.ts";
import { type DemoPlan, isTablePlan } from "./demo-settings.ts";
import type { ProviderStats } from "./provider-book.ts";
import { countBy } from "./statistics.ts";

/**
 * Whether what was promised was kept. Facts in, one line for each promise out; the figures that were worked out
 * beforehand are asked for only where they apply.
 */

export interface DemoFacts {
  readonly plan: DemoPlan;
  /** Requests that the stream should have had. */
  readonly planned: number;
  readonly answers: readonly BurstAnswer[];
  /** The longest that the queue was: as the gateway tells it, and as it was seen from outside. */
  readonly peakDepth: number;
  readonly deepestSeen: number;
  /** What each accepted command says of itself in the end, by its id. */
  readonly states: ReadonlyMap<string, string>;
  readonly backend: Pick<ProviderStats, "doneTwice" | "runningPeak"> & { readonly doneIds: readonly string[] };
}

export interface Check {
  /** The promise, and what was seen. */
  readonly line: string;
  readonly ok: boolean;
}

/** What the table's burst may give over HTTP, where a request takes milliseconds to arrive. */
export const ACCEPTED = { min: 172, max: 176 };
export const RETRY_AFTER_SECONDS = { min: 80, max: 130 };

/** @returns one check for each promise, in the order in which they are to be read */
export function judge(facts: DemoFacts): Check[] {
  return [
    ...judgeAnswers(facts),
    ...judgeQueue(facts),
    ...judgeWork(facts),
    ...(isTablePlan(facts.plan) ? judgeFigures(facts) : []),
  ];
}

function judgeAnswers({ planned, answers }: DemoFacts): Check[] {
  const answered = answers.filter(({ status }) => status > 0).length;
  const refused = refusalsOf(answers);
  const dishonest = refused.filter(
    ({ status, retryAfterSeconds }) => status !== 503 || retryAfterSeconds === null || retryAfterSeconds < 1,
  );
  const told = `${refused.length - dishonest.length} of ${refused.length}${counted(dishonest.map(({ label }) => label))}`;
  return [
    { line: `every request has an answer: ${answered} of ${planned}`, ok: answered === planned },
    { line: `every refusal is a 503 that says when to come back: ${told}`, ok: dishonest.length === 0 },
  ];
}

/** What the exceptions are, where there are some. */
function counted(names: readonly string[]): string {
  const parts = [...countBy(names, (name) => name)].map(([name, count]) => `${name}: ${count}`);
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function judgeQueue({ plan, peakDepth, deepestSeen }: DemoFacts): Check[] {
  const deepest = Math.max(peakDepth, deepestSeen);
  return [{ line: `the queue stays within its bound: ${deepest} of ${plan.bound}`, ok: deepest <= plan.bound }];
}

function judgeWork({ plan, answers, states, backend }: DemoFacts): Check[] {
  const ids = acceptedIds(answers);
  const accepted = new Set(ids);
  const done = new Set(backend.doneIds);
  const ends = ids.map((id) => states.get(id) ?? "unknown");
  const succeeded = ends.filter((state) => state === "succeeded").length;
  const otherwise = counted(ends.filter((state) => state !== "succeeded"));
  const ran = ids.filter((id) => done.has(id)).length;
  const foreign = backend.doneIds.filter((id) => !accepted.has(id)).length;
  const twice = backend.doneTwice + (backend.doneIds.length - done.size);
  return [
    {
      line: `something is accepted, and each under an id of its own: ${accepted.size} of ${ids.length}`,
      ok: ids.length > 0 && accepted.size === ids.length,
    },
    {
      line: `each accepted command succeeded: ${succeeded} of ${ids.length}${otherwise}`,
      ok: succeeded === ids.length,
    },
    { line: `each accepted command was done at the backend: ${ran} of ${ids.length}`, ok: ran === ids.length },
    { line: `none was done twice: ${twice}`, ok: twice === 0 },
    { line: `nothing was done that was not accepted: ${foreign}`, ok: foreign === 0 },
    {
      line: `no more jobs run at once than the backend was said to take: ${backend.runningPeak} of ${plan.concurrency}`,
      ok: backend.runningPeak <= plan.concurrency,
    },
  ];
}

/** Only where they were worked out beforehand. */
function judgeFigures({ plan, answers, peakDepth }: DemoFacts): Check[] {
  const accepted = acceptedIds(answers).length;
  const waits = refusalsOf(answers).map(({ retryAfterSeconds }) => retryAfterSeconds ?? 0);
  const [least, most] = [Math.min(...waits), Math.max(...waits)];
  const { min, max } = RETRY_AFTER_SECONDS;
  const seen = waits.length === 0 ? "none" : `${least} to ${most} s`;
  return [
    { line: `the queue was filled to the last place: ${peakDepth} of ${plan.bound}`, ok: peakDepth === plan.bound },
    {
      line: `accepted ${ACCEPTED.min} to ${ACCEPTED.max}: ${accepted}`,
      ok: ACCEPTED.min <= accepted && accepted <= ACCEPTED.max,
    },
    {
      line: `Retry-After within ${min} to ${max} s: ${seen}`,
      ok: waits.length > 0 && min <= least && most <= max,
    },
  ];
}

/** The ids of what was accepted, in the order of the answers. */
export function acceptedIds(answers: readonly BurstAnswer[]): string[] {
  return answers.flatMap(({ commandId }) => (commandId === undefined ? [] : [commandId]));
}

/** Answers that accept nothing. */
function refusalsOf(answers: readonly BurstAnswer[]): BurstAnswer[] {
  return answers.filter(({ status, commandId }) => status > 0 && commandId === undefined);
}
