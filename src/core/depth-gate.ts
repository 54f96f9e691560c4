import type { Speed } from "./pace.ts";
import type { OverloadCode } from "./problem.ts";

/**
 * Layer 2: what an isolate last heard of the engine, and what follows for the next command. While the engine is full,
 * commands are refused without touching it, so that overload costs it nothing; one command per interval goes through
 * as a probe, so that relief is noticed. When there is room for a few, as many go through and no more until it is heard
 * again: else each place that comes free would let in all that arrives before the next answer.
 *
 * A probe may be one of the callers who wait for room at the engine. It is answered the moment there is room, so the
 * isolate hears of relief at once even though it asks only once per interval.
 */

/** What the engine says of itself with each answer. */
export interface EngineHealth {
  /** By what it refuses ordinary commands, now or once its room is used up; null: it is far from that. */
  readonly limit: OverloadCode | null;
  /** How many ordinary commands more it takes before it refuses by `limit`: 0 while it does. */
  readonly room: number;
  /** What a caller is told, where places are not handed out. */
  readonly retryAfterSeconds: number;
  /** From what the time of each refused caller follows (return-times.ts); null: all are told the same. */
  readonly places: { readonly ahead: number; readonly speed: Speed } | null;
  /** How long it will stay so at the least, in milliseconds, as far as its pace tells. */
  readonly lastsMs: number;
}

/** Of an engine that takes ordinary commands. */
export const HEALTHY: EngineHealth = { limit: null, room: 0, retryAfterSeconds: 1, places: null, lastsMs: 0 };

/** Above this share of its places that are free an engine counts as far from full: nobody need count them at the edge. */
const AMPLE_SHARE = 0.5;

/** What bounds ordinary commands at an engine that takes them. */
export interface Bounds {
  /** Room in the queue, in commands. */
  readonly queueRoom: number;
  /** How many callers more may wait for room in it. */
  readonly seats: number;
  /** Commands that wait. */
  readonly waiting: number;
  /** How many may be in flight; null where there is no limit. */
  readonly limit: number | null;
  readonly inFlight: number;
  /** How many places there are at all. */
  readonly places: number;
}

/** The bound that an engine meets next, with what it will say then; null: it is far from any. */
export function scarceRoom({ queueRoom, seats, waiting, limit, inFlight, places }: Bounds): ScarceRoom | null {
  const flowRoom = limit === null ? Number.POSITIVE_INFINITY : limit - inFlight;
  // It takes one more: it would refuse otherwise.
  const room = Math.max(1, Math.floor(Math.min(queueRoom, flowRoom)));
  if (room > AMPLE_SHARE * places) return null;
  return flowRoom <= queueRoom
    ? { code: "request_limit", room, ahead: inFlight + room }
    : { code: "queue_full", room: room + seats, ahead: waiting + room };
}

export interface ScarceRoom {
  readonly code: "request_limit" | "queue_full";
  /** How many commands it takes, or lets wait for room. */
  readonly room: number;
  /** Commands that hold places once it is used up: a caller is told the time at which all of them have passed. */
  readonly ahead: number;
}

/** Plain data for module scope. Undefined until something was heard: unknown is not full. */
export interface GateState {
  readonly health: EngineHealth;
  /** When it was heard, or taken to hold anew, Unix milliseconds. */
  readonly atMs: number;
  /** How many commands were let through since. */
  readonly passed: number;
}

/** How old a refusal at the edge may be, whatever the engine says of how long it will be full. */
export const GATE_INTERVAL_MS = 1000;
/** Of an isolate that nobody has asked for so long, nothing is known: whoever comes then finds out. */
const FORGOTTEN_MS = 2 * GATE_INTERVAL_MS;
/** More probes than this would be no relief for an engine that is full. */
const GATE_INTERVAL_MIN_MS = 20;
/** Nobody knows how soon a full engine without a pace has room: it is asked now and then. */
const GATE_UNKNOWN_MS = 250;
/** So much of what may be in flight should have left before it is worth asking. */
const GATE_SHARE = 0.1;

/**
 * How long a full engine will stay full: until a tenth of its places is free again. A fast engine would otherwise stand
 * idle while the edge still refuses for a second.
 *
 * @param places what may be in flight
 * @param pacePerSecond null while there is none
 */
export function fullForMs(places: number, pacePerSecond: number | null): number {
  if (pacePerSecond === null) return GATE_UNKNOWN_MS;
  return Math.min(GATE_INTERVAL_MS, Math.max(GATE_INTERVAL_MIN_MS, (1000 * GATE_SHARE * places) / pacePerSecond));
}

export type GateVerdict =
  | { readonly verdict: "pass"; readonly next: GateState | undefined }
  | { readonly verdict: "refuse"; readonly code: OverloadCode; readonly health: EngineHealth };

/**
 * Whether an ordinary command goes on to the engine. Critical ones are not asked.
 *
 * What was heard holds for as long as the engine stays so at the least. If its room was used up by then, the same is taken
 * to be there again, and one at the least, until it is heard; else nobody has come whom it concerned, and it is forgotten.
 */
export function gate(state: GateState | undefined, nowMs: number): GateVerdict {
  if (state === undefined) return { verdict: "pass", next: undefined };
  const { health, atMs, passed } = state;
  if (health.limit === null) return { verdict: "pass", next: state };
  // An answer may be heard after this request took its time, so a little "from the future" is fresh too.
  const ageMs = Math.abs(nowMs - atMs);
  const isFresh = ageMs < Math.min(GATE_INTERVAL_MS, health.lastsMs);
  if (isFresh && passed >= health.room) return { verdict: "refuse", code: health.limit, health };
  if (isFresh) return { verdict: "pass", next: { health, atMs, passed: passed + 1 } };
  const isConcerning = passed >= health.room && ageMs < FORGOTTEN_MS;
  return { verdict: "pass", next: isConcerning ? { health, atMs: nowMs, passed: 1 } : undefined };
}

/** The gate before and after a command was let through. */
export interface Pass {
  readonly from: GateState | undefined;
  readonly to: GateState | undefined;
}

/**
 * The state when a command that was let through did not go on after all: its caller was over a limit of its own. Nothing
 * will be heard of it, so its room, or its turn as a probe, is the next one's.
 */
export function givenBack(now: GateState | undefined, { from, to }: Pass): GateState | undefined {
  if (now === to) return from;
  const isOfItsTime = now !== undefined && now.health === to?.health && now.atMs === to.atMs;
  return isOfItsTime ? { ...now, passed: now.passed - 1 } : now;
}

/** The state after an answer of the engine. */
export function heard(health: EngineHealth, nowMs: number): GateState {
  return { health, atMs: nowMs, passed: 0 };
}

/** Nobody knows when space is freed on a disk that is short of it. */
export const STORAGE_RETRY_SECONDS = 30;
/** Of an engine whose disk is short of space. */
export const STORAGE_SHORT: EngineHealth = {
  limit: "storage_full",
  room: 0,
  retryAfterSeconds: STORAGE_RETRY_SECONDS,
  places: null,
  lastsMs: GATE_INTERVAL_MS,
};
