import { RETRY_AFTER_MAX_SECONDS, secondsUntilStarted } from "../core/pace.ts";

/** Capacity planning: what a bound and a rate mean in seconds, by the same arithmetic that callers are told by. */

export interface CapacitySpec {
  /** Commands a second that are expected. */
  readonly rate: number;
  /** How many times that the engine should be able to do. */
  readonly safety: number;
  /** Commands that may be queued. */
  readonly bound: number;
}

export interface CapacityReport extends CapacitySpec {
  /** Commands a second that the engine has to do. */
  readonly neededPace: number;
  /** How long commands at the expected rate may come while the engine does nothing, before the first is refused. */
  readonly headroomSeconds: number;
  /** How long the last of a full queue waits, at the expected rate as the pace: the longest that is ever promised. */
  readonly longestWaitSeconds: number;
  /** The same at the needed pace. */
  readonly longestWaitAtNeededPaceSeconds: number;
  /** False: a full queue takes longer than the longest time that a refused caller is ever told. */
  readonly tellable: boolean;
}

export function capacity({ rate, safety, bound }: CapacitySpec): CapacityReport {
  const at = (perSecond: number) => secondsUntilStarted(bound, { perSecond, quota: null }) ?? 0;
  return {
    rate,
    safety,
    bound,
    neededPace: rate * safety,
    headroomSeconds: bound / rate,
    longestWaitSeconds: at(rate),
    longestWaitAtNeededPaceSeconds: at(rate * safety),
    tellable: at(rate) <= RETRY_AFTER_MAX_SECONDS,
  };
}
