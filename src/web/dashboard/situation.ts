import { duration, perSecond, whole } from "../shared/numbers.ts";
import type { Recent } from "./history.ts";
import { EVERYONE_WAITS } from "./overload-words.ts";
import type { AdminQueue } from "./shapes.ts";

/**
 * What is going on, in one line of plain words, and what to do about it: the first thing that an operator reads. One
 * thing is said, the worst first. Pure.
 */

export type Tone = "ok" | "warn" | "bad" | "idle";

export interface Situation {
  readonly tone: Tone;
  /** The state in a word or two. */
  readonly word: string;
  /** What is going on. Without figures: it is read aloud whenever it changes. */
  readonly headline: string;
  /** What that means in figures, and what to do. */
  readonly advice: string;
}

/** How the last questions about the queue ended. */
export type Contact =
  | { readonly kind: "starting" }
  | { readonly kind: "live" }
  /** Headgate answers, and says that it cannot tell. */
  | { readonly kind: "silent"; readonly why: string; readonly forSeconds: number }
  | { readonly kind: "offline"; readonly forSeconds: number };

/** From here on it is worth a look: the same share as the alert rules have. */
const FILLING_PERCENT = 80;
/** Work that waits this long while nothing ends is stuck, and not only slow. */
const STUCK_AFTER_SECONDS = 60;

export function situationOf(contact: Contact, queue: AdminQueue | null, recent: Recent | null): Situation {
  return (
    withoutAnswer(contact) ??
    (queue === null
      ? STARTING
      : (held(queue, recent) ?? stuck(queue) ?? refusing(queue, recent) ?? working(queue, recent)))
  );
}

const STARTING: Situation = {
  tone: "idle",
  word: "Asking",
  headline: "Asking the engine how it stands.",
  advice: "The first figures come within a second or two.",
};

function withoutAnswer(contact: Contact): Situation | null {
  switch (contact.kind) {
    case "live":
      return null;
    case "starting":
      return STARTING;
    case "silent":
      return {
        tone: "bad",
        word: "Not answering",
        headline: "The engine does not answer.",
        advice:
          `For ${duration(contact.forSeconds)}: “${contact.why}” Callers are told to come back. It restarts by itself; ` +
          "if this lasts longer than a minute, look at the Worker's logs and at /readyz.",
      };
    case "offline":
      return {
        tone: "bad",
        word: "No connection",
        headline: "This page cannot reach Headgate.",
        advice:
          `For ${duration(contact.forSeconds)}. Check your own connection first, then whether /healthz answers from ` +
          "elsewhere. The figures below are the last that were heard.",
      };
  }
}

/** Somebody holds the queue up on purpose: an operator, or the backend. */
function held(queue: AdminQueue, recent: Recent | null): Situation | null {
  const { paused, accepting, upstream } = queue;
  if (paused && !accepting) {
    return {
      tone: "bad",
      word: "Paused",
      headline: "An operator has paused the engine, and new commands are refused.",
      advice: `${waiting(queue)} Resume as soon as what is behind it is well again.`,
    };
  }
  if (paused && roomOf(queue) <= 0) {
    return {
      tone: "bad",
      word: "Paused",
      headline: "An operator has paused the engine; there is no room left, and new commands are refused.",
      advice: `${waiting(queue)} Resume as soon as what is behind it is well again.`,
    };
  }
  if (paused) {
    return {
      tone: "warn",
      word: "Paused",
      headline: "An operator has paused the engine; new commands are still taken, and wait.",
      advice: `${waiting(queue)} ${untilFull(queue, recent)} Resume as soon as what is behind it is well again.`,
    };
  }
  if (upstream?.state === "waiting") {
    const resumes = upstream.resumesInSeconds;
    return {
      tone: "warn",
      word: "Waiting for the backend",
      headline: "The backend has asked for a pause, or keeps failing, and is left alone.",
      advice:
        `${resumes === undefined ? "" : `It is asked again in ${duration(resumes)}. `}${waiting(queue)} Look at the ` +
        "backend; nothing needs to be done here.",
    };
  }
  if (upstream?.state === "probing") {
    return {
      tone: "warn",
      word: "Trying the backend",
      headline: "The backend has failed and is tried with one command at a time.",
      advice: `${waiting(queue)} All goes on as soon as one try succeeds. Look at the backend.`,
    };
  }
  return null;
}

function stuck(queue: AdminQueue): Situation | null {
  const { depth, criticalDepth, completedLastMinute, oldestWaitSeconds, running } = queue;
  if (depth + criticalDepth === 0 || completedLastMinute > 0 || oldestWaitSeconds < STUCK_AFTER_SECONDS) return null;
  return {
    tone: "bad",
    word: "Stuck",
    headline: "Commands wait, and none has been finished in the last minute.",
    advice: `${waiting(queue)} ${running > 0 ? `${whole(running)} are with the backend: see what keeps them there.` : "Nothing is running: look at the Worker's logs."}`,
  };
}

/** What makes everyone wait, most of it first. What a tenant's own limit refuses is no trouble of the engine's. */
function refusing(queue: AdminQueue, recent: Recent | null): Situation | null {
  const rates = Object.entries(recent?.refusedPerSecond ?? {}).filter(([code]) => Object.hasOwn(EVERYONE_WAITS, code));
  const [first] = rates.sort(([, a], [, b]) => b - a);
  if (first === undefined && queue.depth < queue.bound) return null;
  const [code, rate] = first ?? ["queue_full", 0];
  const back = queue.retryAfterSeconds;
  const told = back === null ? "" : `Who is refused now is told to come back in ${duration(back)}.`;
  const isShared = code === "queue_full" && recent?.hadRoom === true;
  if (isOver(code, queue, isShared)) return OVER;
  const { headline, todo } = isShared ? SHARED : (EVERYONE_WAITS[code] ?? EVERYONE_WAITS.queue_full);
  const flow = recent && `${perSecond(recent.acceptedPerSecond)} are taken and ${perSecond(rate)} refused.`;
  const advice = [flow, pace(queue), told, todo].filter((sentence) => sentence !== null && sentence !== "").join(" ");
  return { tone: "bad", word: "Refusing", headline, advice };
}

/** Whether what refused is gone: just after a pause, say, the refusals of the last seconds are still told. */
function isOver(code: string, { depth, criticalDepth, inFlight }: AdminQueue, isShared: boolean): boolean {
  const isFilled = code === "request_limit" || (code === "queue_full" && !isShared);
  return isFilled && depth + criticalDepth + inFlight === 0;
}

const OVER: Situation = {
  tone: "warn",
  word: "Refused lately",
  headline: "Callers were refused in the last ten seconds; now nothing is in flight.",
  advice: "There is room again. Nothing needs to be done, unless it comes back.",
};

/** Room was left at every look: the queue fills between looks, or a tenant that has its share is refused for others. */
const SHARED = {
  headline: "Callers are refused though there is room: it fills in bursts, or tenants have their share of it.",
  todo: "Their answers say which. A larger bound takes longer bursts; shares go by the weight of each tenant's tier.",
};

function working(queue: AdminQueue, recent: Recent | null): Situation {
  const { depth, criticalDepth, depthPercent } = queue;
  if (depthPercent >= FILLING_PERCENT) {
    return {
      tone: "warn",
      word: "Filling up",
      headline: "The queue is nearly full; nobody is refused yet.",
      advice: `${waiting(queue)} ${[untilFull(queue, recent), pace(queue)].join(" ").trim()}`,
    };
  }
  const overLimit = recent?.refusedPerSecond.rate_limited;
  const own =
    overLimit === undefined
      ? ""
      : ` Tenants over their own limits are refused ${perSecond(overLimit)}; see the top tenants.`;
  if (depth + criticalDepth === 0) {
    return {
      tone: "ok",
      word: "OK",
      headline: "All is well; nothing waits.",
      advice: `Nothing needs to be done.${own}`,
    };
  }
  return {
    tone: "ok",
    word: "OK",
    headline: "All is well; work is taken and finished.",
    advice: `${`${waiting(queue)} ${pace(queue)}`.trim()}${own}`,
  };
}

function waiting(queue: AdminQueue): string {
  const { depth, criticalDepth, oldestWaitSeconds } = queue;
  const all = depth + criticalDepth;
  if (all === 0) return "Nothing waits.";
  return `${whole(all)} ${all === 1 ? "waits" : "wait"} (room for ${whole(Math.max(0, roomOf(queue)))} more), the oldest for ${duration(oldestWaitSeconds)}.`;
}

/** When the queue would be full, as things are going. */
function untilFull(queue: AdminQueue, recent: Recent | null): string {
  const { pacePerSecond, paused } = queue;
  const growth = (recent?.acceptedPerSecond ?? 0) - (paused ? 0 : (pacePerSecond ?? 0));
  const room = roomOf(queue);
  if (room <= 0) return "There is no room, and more is refused.";
  return growth <= 0.05 ? "" : `At this rate it is full in ${duration(room / growth)}.`;
}

/** How many more ordinary commands are taken: the bound and the limit in flight both hold, also while paused. */
function roomOf({ depth, bound, inFlight, limit }: AdminQueue): number {
  return Math.min(bound - depth, (limit.value ?? Number.POSITIVE_INFINITY) - inFlight);
}

/** A sentence; empty while nobody knows a pace. */
function pace({ pacePerSecond }: AdminQueue): string {
  return pacePerSecond === null ? "" : `The pace is ${perSecond(pacePerSecond)}.`;
}
