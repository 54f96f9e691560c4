import { burstWorld } from "../../sim/burst.ts";
import type { Sample } from "../../sim/measures.ts";
import type { WorldSpec } from "../../sim/spec.ts";
import { runWorld } from "../../sim/world.ts";
import { burstOf, type Settings, USUAL_BOUND } from "./settings.ts";

/**
 * What comes of a setting: the burst as it was asked for, and the runs that it is held against. Each is a whole run of
 * the simulator, so of the production core. Pure: how long it took is for its caller to measure.
 */

/** One run in a few numbers; times in seconds since the first job came. */
export interface Figures {
  readonly offered: number;
  readonly accepted: number;
  readonly refused: number;
  readonly longestQueue: number;
  /** How long the oldest had waited when the last job came. */
  readonly oldestWait: number;
  /** The longest that any job waited from acceptance to its beginning. */
  readonly longestWait: number;
  /** 0 where nothing ever waited. */
  readonly emptyAt: number;
  /** What refused callers were told, in seconds; null: nobody was refused. */
  readonly retryAfter: { readonly min: number; readonly max: number; readonly mean: number } | null;
  /** The most that were held at the producer at a time. */
  readonly mostHeld: number;
  /** Jobs that were run to their end. */
  readonly done: number;
}

/** The course of a run, one value a second; the first is of second 0, when nothing has happened yet. */
export interface Course {
  readonly depth: readonly number[];
  readonly oldest: readonly number[];
  readonly held: readonly number[];
  /** So far. */
  readonly refused: readonly number[];
}

export interface Run {
  readonly figures: Figures;
  readonly course: Course;
}

/** The three ways to meet a burst. */
export interface Modes {
  /** Of the two that have one. */
  readonly bound: number;
  readonly noControl: Run;
  readonly backpressure: Run;
  readonly shedding: Run;
}

export interface Outcome {
  readonly settings: Settings;
  /** As it was asked for. */
  readonly chosen: Run;
  /** The same without the bound; where there is none, with the usual one. */
  readonly other: Run;
  /** As it was asked for, but without the quota; null: there is none. */
  readonly withoutQuota: Run | null;
  readonly modes: Modes;
}

/** A producer that holds what does not fit waits as long as it takes. Longer than a run, in milliseconds. */
const HELD_MS = 86_400_000;

/** @throws Error when a promise of the product is broken on the way: the simulator checks them after every event */
export function outcomeOf(settings: Settings): Outcome {
  const bound = settings.bound ?? USUAL_BOUND;
  const noControl = run(burstWorld(burstOf({ ...settings, bound: null })));
  const bounded = burstWorld(burstOf({ ...settings, bound }));
  const shedding = run(bounded);
  const waitersMax = noControl.figures.offered;
  const backpressure = run({ ...bounded, engine: { ...bounded.engine, enqueueWaitMs: HELD_MS, waitersMax } });
  const withoutQuota = settings.quota ? run(burstWorld(burstOf({ ...settings, quota: false }))) : null;
  const [chosen, other] = settings.bound === null ? [noControl, shedding] : [shedding, noControl];
  const modes = { bound, noControl, backpressure, shedding };
  return { settings, chosen, other, withoutQuota, modes };
}

function run(spec: WorldSpec): Run {
  const report = runWorld(spec);
  const course = courseOf(report.timeline);
  if (report.emptyAtSeconds === null) throw new Error("the simulated day was over before the queue was empty");
  const figures = {
    offered: report.offered,
    accepted: report.accepted,
    refused: report.refused,
    longestQueue: report.peakDepth,
    oldestWait: report.oldestWaitSeconds,
    longestWait: report.waits?.max ?? 0,
    emptyAt: report.emptyAtSeconds,
    retryAfter: report.retryAfter,
    mostHeld: Math.max(0, ...course.held),
    done: report.ends.succeeded,
  };
  return { figures, course };
}

function courseOf(timeline: readonly Sample[]): Course {
  const course = { depth: [0], oldest: [0], held: [0], refused: [0] };
  let [held, refused] = [0, 0];
  for (const sample of timeline) {
    // Who has asked and was told nothing yet stands at the door with what it has.
    held += sample.offered - sample.accepted - sample.refused;
    refused += sample.refused;
    course.depth.push(sample.depth);
    course.oldest.push(sample.oldestSeconds);
    course.held.push(held);
    course.refused.push(refused);
  }
  return course;
}
