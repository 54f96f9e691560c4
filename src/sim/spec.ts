import type { Backoff } from "../core/backoff.ts";
import type { Quota } from "../core/delivery/quota.ts";
import type { FlowConfig } from "../core/flow-control/flow-control.ts";
import type { RetryAfterFormula } from "../core/return-times.ts";

/** A world as data: everything that a run depends on. The same spec gives the same run, to the last event. */
export interface WorldSpec {
  /** Of every bit of chance. */
  readonly seed: number;
  /** How long the run may take, in virtual seconds; it ends earlier when nothing is left to do. */
  readonly seconds: number;
  readonly tenants: readonly TenantSpec[];
  readonly loads: readonly LoadSpec[];
  readonly engine: EngineSpec;
  readonly backend: BackendSpec;
  readonly network: NetworkSpec;
  readonly faults: readonly FaultSpec[];
}

export interface TenantSpec {
  readonly name: string;
  /** Tokens a second, and at once. Null: layer 1 is not in this world. */
  readonly limit: { readonly perSecond: number; readonly burst: number } | null;
  readonly weight: number;
}

/** What a caller does with a refusal. */
export type Manners =
  /** Goes away. */
  | "never"
  /** Waits exactly what it was told, and asks again. */
  | "obey"
  /** Asks again at once. */
  | "ignore"
  /** All come back together, at the next full ten seconds. */
  | "herd"
  /** As our SDK decides, which also asks again when no answer came. */
  | "sdk";

/** Requests of some tenants over time. */
export interface LoadSpec {
  /** Names; each request is of the next one in turn. */
  readonly tenants: readonly string[];
  /** One after the other; the rate goes from `from` to `to` in a straight line, in requests a second. */
  readonly phases: readonly { readonly seconds: number; readonly from: number; readonly to: number }[];
  /** How many of a thousand are critical commands. */
  readonly criticalPerMille: number;
  /** Between one request and the next: always the same, or by chance (exponential). */
  readonly spacing: "even" | "random";
  readonly manners: Manners;
  /** How often one request is tried at the most, the first time included. */
  readonly triesMax: number;
  /** How many of a thousand hang up before they are answered, after `hangUpMs`. */
  readonly hangUpPerMille: number;
  readonly hangUpMs: number;
  /** The time after which a command need not begin, in milliseconds; null: it always may. */
  readonly deadlineMs: number | null;
  /** How many of a thousand that were accepted are cancelled two seconds later. */
  readonly cancelPerMille: number;
  /** Whether each call has a key of its own (`Idempotency-Key`): sending it twice is then sending it once. */
  readonly keyed: boolean;
  /** Tokens that a request costs at layer 1. */
  readonly cost: number;
}

export interface EngineSpec {
  /** Commands that may be queued; null: as many as come. */
  readonly bound: number | null;
  readonly enqueueWaitMs: number;
  readonly waitersMax: number;
  readonly retryAfter: RetryAfterFormula;
  /** What is done with a command for which there is no room: refused, or saved and taken up later. */
  readonly overflow: "refuse" | "defer";
  readonly deferredMax: number;
  readonly flow: FlowConfig;
  /** Attempts at the same time. */
  readonly concurrency: number;
  readonly attemptsMax: number;
  readonly backoff: Backoff;
  readonly breakerFailures: number;
  /** How long an attempt may take, in milliseconds. */
  readonly timeoutMs: number;
  /** What the deployment was told of the backend's quota. */
  readonly quota: Quota | null;
  /** Isolates that callers reach it through; each keeps what it heard of the engine. 0: callers ask the engine. */
  readonly isolates: number;
}

export interface BackendSpec {
  readonly jobMs: number;
  /** Each job takes from 1 − spread to 1 + spread of that. */
  readonly spread: number;
  /** It says 429 to what is over this. */
  readonly quota: Quota | null;
  readonly troubles: readonly TroubleSpec[];
}

/** A time in which the backend is not itself. */
export interface TroubleSpec {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly kind: /** Refuses connections. */
    | "down"
    /** Does the work and never answers. */
    | "silent"
    /** Takes ten times as long. */
    | "slow"
    /** 500 to everything. */
    | "failing"
    /** 503 with a time. */
    | "busy"
    /** 200 with a page that is no answer. */
    | "nonsense";
}

export interface NetworkSpec {
  /** Each way takes from none to twice this, in milliseconds. */
  readonly delayMs: number;
  /** Of a thousand messages. */
  readonly dropPerMille: number;
  readonly duplicatePerMille: number;
}

export interface FaultSpec {
  readonly atSeconds: number;
  readonly kind: /** The engine's object is moved: memory is lost between two events. */
    | "engine-restart"
    /** It dies in its next event, before or after the commit. */
    | "engine-crash-before"
    | "engine-crash-after"
    /** All limiters lose their memory. */
    | "limiter-restart"
    /** The clock of all objects jumps by `ms`. */
    | "clock"
    /** All isolates forget what they heard. */
    | "isolate-restart";
  readonly ms: number;
}

/** Nothing limits what is in flight or written. */
export const NO_FLOW: FlowConfig = { limit: null, writeRate: null };

export const PLAIN_NETWORK: NetworkSpec = { delayMs: 0, dropPerMille: 0, duplicatePerMille: 0 };

export const PLAIN_ENGINE: EngineSpec = {
  bound: 100,
  enqueueWaitMs: 0,
  waitersMax: 100,
  retryAfter: "places",
  overflow: "refuse",
  deferredMax: 100_000,
  flow: NO_FLOW,
  concurrency: 4,
  attemptsMax: 5,
  backoff: { baseMs: 1_000, maxMs: 60_000 },
  breakerFailures: 5,
  timeoutMs: 30_000,
  quota: null,
  isolates: 0,
};

export const PLAIN_LOAD: LoadSpec = {
  tenants: ["t"],
  phases: [],
  criticalPerMille: 0,
  spacing: "even",
  manners: "never",
  triesMax: 1,
  hangUpPerMille: 0,
  hangUpMs: 1_000,
  deadlineMs: null,
  cancelPerMille: 0,
  keyed: false,
  cost: 1,
};
