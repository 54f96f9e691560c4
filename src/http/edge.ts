import { type EngineHealth, type GateState, gate, givenBack, heard, type Pass } from "../core/depth-gate.ts";
import { OverShares, type Wanting, WantingTenants } from "../core/edge-memory.ts";
import { FairRate } from "../core/fair-rate.ts";
import type { Asker } from "../core/fair-share.ts";
import { FirstComers } from "../core/first-comers.ts";
import type { OverloadCode, Problem } from "../core/problem.ts";
import { ReturnTimes } from "../core/return-times.ts";
import { countRefusal } from "./edge-counts.ts";

/**
 * What this isolate knows and has done by itself. Plain data in module scope: no promise, stub or response may ever be
 * shared between requests.
 */

/** What is known of one partition of the engine. */
interface Known {
  gate: GateState | undefined;
  /** What was told to those who were refused here, so that no two are told the same place. */
  readonly returnTimes: ReturnTimes;
  readonly wanting: WantingTenants;
  readonly firstComers: FirstComers;
}

/** There are at most as many as the deployment has partitions. */
const partitions = new Map<number, Known>();
const overShares = new OverShares();

/**
 * A repeat must get its first answer also from a full engine, so keys are looked up there. Look-ups a second of this
 * isolate: one tenth of what an engine answers, which tenants share.
 */
const LOOKUPS_PER_SECOND_MAX = 100;
const lookups = new FairRate(LOOKUPS_PER_SECOND_MAX);

/** Why layer 2 would refuse a tenant's ordinary command. */
export type Gated =
  | { readonly why: "over_share"; readonly code: "queue_full"; readonly retryAfterSeconds: number }
  | { readonly why: "engine"; readonly code: OverloadCode; readonly health: EngineHealth };

/**
 * Layer 2: null when a tenant's ordinary command goes on to the engine.
 *
 * @param keyed it has a key of its caller's, and may be a repeat
 */
export function gated(partition: number, tenant: string, keyed: boolean, nowMs: number): Gated | null {
  const refused = ownShare(tenant, nowMs) ?? gateOf(partition, nowMs);
  if (refused === null) knownOf(partition).firstComers.passed(tenant, nowMs);
  return refused !== null && keyed && lookups.take(tenant, nowMs) ? null : refused;
}

/** The gate as it stands, to be told in a {@link giveBack}. */
export function gateState(partition: number): GateState | undefined {
  return knownOf(partition).gate;
}

/**
 * Lets a tenant's first command through to a queue that is full as far as this isolate knows: the engine has a share of
 * it for the tenant. So many a second of all tenants.
 *
 * @param closed what {@link gated} said
 * @returns the tenant, for {@link giveBack}; null: its command is refused
 */
export function passFirst(partition: number, tenant: string, closed: Gated, nowMs: number): string | null {
  if (!isFullQueue(closed)) return null;
  return knownOf(partition).firstComers.take(tenant, nowMs) ? tenant : null;
}

function isFullQueue({ why, code }: Gated): boolean {
  return why === "engine" && code === "queue_full";
}

/**
 * A command that {@link gated} or {@link passFirst} let through was refused before it reached the engine.
 *
 * @param pass with the tenant whose first it was
 */
export function giveBack(partition: number, pass: Pass & { readonly first?: string | null }): void {
  const known = knownOf(partition);
  known.gate = givenBack(known.gate, pass);
  if (pass.first != null) known.firstComers.giveBack(pass.first);
}

/** Whether {@link gated} would refuse, and {@link passFirst} too, without taking what they let through now and then. */
export function closedTo(partition: number, tenant: string, nowMs: number): Gated | null {
  const { gate: state, firstComers } = knownOf(partition);
  const closed = ownShare(tenant, nowMs) ?? refusalOf(gate(state, nowMs));
  return closed !== null && isFullQueue(closed) && firstComers.isFirst(tenant, nowMs) ? null : closed;
}

function ownShare(tenant: string, nowMs: number): Gated | null {
  const retryAfterSeconds = overShares.secondsFor(tenant, nowMs);
  return retryAfterSeconds === null ? null : { why: "over_share", code: "queue_full", retryAfterSeconds };
}

function gateOf(partition: number, nowMs: number): Gated | null {
  const known = knownOf(partition);
  const verdict = gate(known.gate, nowMs);
  if (verdict.verdict === "pass") known.gate = verdict.next;
  return refusalOf(verdict);
}

function refusalOf(verdict: ReturnType<typeof gate>): Gated | null {
  return verdict.verdict === "refuse" ? { why: "engine", code: verdict.code, health: verdict.health } : null;
}

/** Refuses here: counts it, tells the caller when to come back, and remembers to tell the engine. */
export function refuseAtEdge(partition: number, asker: Asker, refused: Gated, nowMs: number): Problem {
  countRefusal(refused.code);
  const { wanting, returnTimes, firstComers } = knownOf(partition);
  wanting.refused(asker, nowMs);
  firstComers.refused(asker.tenant, nowMs);
  if (refused.why === "over_share") {
    return { code: refused.code, detail: OVER_SHARE, retryAfterSeconds: refused.retryAfterSeconds };
  }
  const { places, retryAfterSeconds: toAll } = refused.health;
  const retryAfterSeconds =
    places === null ? toAll : returnTimes.tell(asker, places.ahead, places.speed, nowMs, Math.random());
  return { code: refused.code, detail: DETAILS[refused.code], retryAfterSeconds };
}

/** Whether a tenant has had a command refused here that could have run: it is known to want places in a partition. */
export function isWanting(partition: number, tenant: string, nowMs: number): boolean {
  return knownOf(partition).wanting.has(tenant, nowMs);
}

/** Takes the tenants that want places in a partition and were not let through to say so. */
export function takeWanting(partition: number, nowMs: number): Wanting[] {
  return knownOf(partition).wanting.take(nowMs);
}

/** Callers of a tenant have been told to come back in so many seconds, here or elsewhere. */
export function hearTold(partition: number, asker: Asker, seconds: number, nowMs: number): void {
  knownOf(partition).returnTimes.heard(asker, seconds, nowMs);
}

/** The engine has refused a tenant for lack of room: it has told it a time, and perhaps that it has its share. */
export function hearRefusal(
  partition: number,
  asker: Asker,
  retryAfterSeconds: number,
  isOverShare: boolean,
  nowMs: number,
): void {
  hearTold(partition, asker, retryAfterSeconds, nowMs);
  knownOf(partition).firstComers.refused(asker.tenant, nowMs);
  if (isOverShare) overShares.hear(asker.tenant, retryAfterSeconds, nowMs);
}

const OVER_SHARE = "You have your share of the command queue; what is left of it is for others who wait for theirs.";

const DETAILS: Readonly<Record<OverloadCode, string>> = {
  queue_full: "The command queue is full. Everyone has to wait.",
  request_limit: "The engine works on as many commands as it bears. Everyone has to wait.",
  write_limit: "The engine takes no more commands this second. Everyone has to wait.",
  engine_paused: "An operator has paused the engine, and it takes no commands.",
  storage_full: "The engine's disk is short of space (STORAGE_BYTES_MAX). Only critical commands are taken.",
};

/** What the engine has just said of itself. */
export function hearEngine(partition: number, health: EngineHealth, nowMs: number): void {
  knownOf(partition).gate = heard(health, nowMs);
}

/** An operator has changed the engine through this isolate: what was heard before no longer holds. */
export function forgetEngine(): void {
  for (const known of partitions.values()) known.gate = undefined;
  overShares.clear();
}

function knownOf(partition: number): Known {
  const known = partitions.get(partition) ?? {
    gate: undefined,
    returnTimes: new ReturnTimes(),
    wanting: new WantingTenants(),
    firstComers: new FirstComers(),
  };
  partitions.set(partition, known);
  return known;
}
