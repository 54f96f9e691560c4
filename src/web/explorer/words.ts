import { RETRY_AFTER_UNKNOWN_SECONDS } from "../../core/pace.ts";
import { BURST } from "../../sim/burst.ts";
import type { Figures, Modes, Outcome, Run } from "./outcome.ts";
import { type Settings, USUAL_BOUND, type View } from "./settings.ts";

/** An outcome in plain words: what happens, and why. True for every setting; each number is one of the readout. */

/** What the charts show at first, in seconds. */
const SHOWN_SECONDS = 120;
/** The axis of a whole course goes on to the next full minute. */
const MINUTE_SECONDS = 60;
/** Less than this is nothing that the quota does, but the order in which jobs start. */
const SAME_SECONDS = 0.5;
const COUNTS = ["No", "One", "Two", "Three", "Four"];

/** To a tenth of a second. The unit stays on the number's line. */
export function seconds(value: number): string {
  return `${Math.round(value * 10) / 10}\u00a0s`;
}

/** Where the axis of time ends that shows these runs. */
export function axisSeconds(view: View, ...runs: readonly Run[]): number {
  if (view === "start") return SHOWN_SECONDS;
  const latest = Math.max(...runs.map(({ figures }) => figures.emptyAt));
  return Math.max(SHOWN_SECONDS, MINUTE_SECONDS * Math.ceil(latest / MINUTE_SECONDS));
}

/** When the queue was empty for good; a dash where nothing ever waited. */
export function emptied({ emptyAt }: Figures): string {
  return emptyAt === 0 ? "–" : seconds(emptyAt);
}

/** What refused callers were told; a dash where nobody was refused. */
export function told({ retryAfter }: Figures): string {
  if (retryAfter === null) return "–";
  const { min, max } = retryAfter;
  return min === max ? seconds(min) : `${min} to ${seconds(max)}`;
}

/** The name of a column, or of a line of a chart. */
export function boundName(bound: number | null): string {
  return bound === null ? "Without a bound" : `With a bound of ${bound}`;
}

/** The bound that a setting is held against. */
export function otherBound({ bound }: Settings): number | null {
  return bound === null ? USUAL_BOUND : null;
}

/** The one thing to see. */
export function headline({ settings, chosen, other }: Outcome): string {
  const [one, two] = [chosen.figures, other.figures];
  if (one.longestQueue === 0 && one.refused === 0) return "The workers keep up: no job waits.";
  if (settings.bound !== null && one.refused > 0) {
    return `${one.refused} of ${one.offered} jobs are refused at once, and no accepted job waits longer than ${seconds(one.longestWait)}. Without the bound it is ${seconds(two.longestWait)}.`;
  }
  if (settings.bound !== null) return `The queue is never full: nobody is refused, and the bound changes nothing here.`;
  if (two.refused > 0) {
    return `Nobody is refused, and the longest wait is ${seconds(one.longestWait)}. With a bound of ${USUAL_BOUND} it is ${seconds(two.longestWait)}.`;
  }
  return `Nobody is refused, and the longest wait is ${seconds(one.longestWait)}.`;
}

/** The text under the charts, a paragraph each. */
export function description(outcome: Outcome, view: View): readonly string[] {
  const { settings, chosen, other } = outcome;
  const goesOn = ({ figures }: Run) => view === "start" && figures.emptyAt > SHOWN_SECONDS;
  const own = goesOn(chosen) ? [`The charts end at ${SHOWN_SECONDS} s; the waiting does not.`] : [];
  const others = settings.bound === null ? `with a bound of ${USUAL_BOUND}` : "without the bound";
  const also = goesOn(chosen) ? ", too" : "";
  const cut = goesOn(other) ? [`The waiting ${others} goes on after the charts’ ${SHOWN_SECONDS} s${also}.`] : [];
  return [
    [whatComes(outcome)],
    [whatHappens(outcome), ...own],
    [whatElse(outcome), ...cut].filter((text) => text !== ""),
  ].flatMap((sentences) => (sentences.length === 0 ? [] : [sentences.join(" ")]));
}

function whatComes(outcome: Outcome): string {
  const { settings, chosen } = outcome;
  const { rate, workers } = settings;
  const pace = Math.round(((workers * BURST.slots) / (BURST.jobMs / 1000)) * 10) / 10;
  const places = workers === 1 ? `worker with ${BURST.slots} places` : `workers with ${BURST.slots} places each`;
  const staff = `${COUNTS[workers]} ${places} can run ${pace} a second`;
  const arrivals = `${chosen.figures.offered} jobs arrive in ${BURST.seconds} s, ${rate} a second.`;
  return `${arrivals} ${staff}, at ${BURST.jobMs / 1000} s a job. ${quotaWords(outcome)}`;
}

function quotaWords({ chosen, withoutQuota }: Outcome): string {
  if (withoutQuota === null) return "The backend has no quota.";
  const [with_, without] = [chosen.figures, withoutQuota.figures];
  const quota = "The backend’s quota lets 50 jobs start at once and then 50 a minute";
  if (with_.accepted === without.accepted && with_.emptyAt - without.emptyAt < SAME_SECONDS) {
    return `${quota}; that is enough here, and holds nothing up.`;
  }
  const refused = with_.refused > 0 ? `${without.refused} would be refused and ` : "";
  const waits =
    without.longestQueue === 0 ? "no job would wait" : `the queue would be empty at ${seconds(without.emptyAt)}`;
  return `${quota}, and once those are used up it sets the pace: without it ${refused}${waits}.`;
}

function whatHappens({ settings, chosen }: Outcome): string {
  const { accepted, refused, longestQueue, oldestWait, longestWait, emptyAt } = chosen.figures;
  if (longestQueue === 0 && refused === 0) return "Each job finds a free place at once: the queue stays empty.";
  const stop = `When sending stops, the oldest job in the queue has waited ${seconds(oldestWait)}.`;
  const end = `The queue is empty at ${seconds(emptyAt)}, and the longest that any accepted job waited is ${seconds(longestWait)}.`;
  if (settings.bound === null) return `Nobody is refused, so the queue grows to ${longestQueue}. ${stop} ${end}`;
  if (refused === 0) {
    return `The queue grows to ${longestQueue} and is never full at ${settings.bound}, so nobody is refused. ${stop} ${end}`;
  }
  return [
    `The queue takes ${settings.bound} and not one more.`,
    `Who comes while it is full, ${refused} of the jobs, is refused at once and told when to come back: in ${told(chosen.figures)}, which is what waits divided by what finished in the last minute (${seconds(RETRY_AFTER_UNKNOWN_SECONDS)} while nothing has).`,
    `The ${accepted} that were accepted are all run. ${stop} ${end}`,
  ].join(" ");
}

/** What the bound changes. */
function whatElse({ settings, chosen, other }: Outcome): string {
  const [one, two] = [chosen.figures, other.figures];
  if (settings.bound === null) {
    if (one.longestQueue === 0) return "";
    if (two.refused === 0) return `A bound of ${USUAL_BOUND} would change nothing: the queue would never be full.`;
    return `With a bound of ${USUAL_BOUND}, ${two.refused} would be refused at once and told to come back in ${told(two)}; the others would wait ${seconds(two.longestWait)} at the longest, and the queue would be empty at ${seconds(two.emptyAt)}.`;
  }
  if (one.refused === 0) return "";
  return `Without the bound all ${one.offered} would be accepted, as many as ${two.longestQueue} of them would wait at a time, the longest wait would be ${seconds(two.longestWait)} and the queue would be empty at ${seconds(two.emptyAt)}.`;
}

/** What each of the three ways to meet a burst comes to. */
export function modeWords({ bound, noControl, backpressure, shedding }: Modes) {
  const [none, held, shed] = [noControl.figures, backpressure.figures, shedding.figures];
  const fits = `All of it fits into a queue of ${bound}`;
  return {
    noControl:
      none.longestQueue === 0
        ? "Everyone is taken, and nobody waits."
        : `Everyone is taken. The queue grows to ${none.longestQueue}, and everyone behind it waits, up to ${seconds(none.longestWait)}.`,
    backpressure:
      held.mostHeld === 0
        ? `${fits}: the producer holds nothing back.`
        : `The queue keeps to ${bound}, and the producer holds the rest, up to ${held.mostHeld}. Nothing is lost and nothing is sooner: the wait has moved.`,
    shedding:
      shed.refused === 0
        ? `${fits}: nobody is refused.`
        : `${shed.refused} are refused at once and can go elsewhere or come back. What was taken waits ${seconds(shed.longestWait)} at the longest.`,
  };
}
