import { type Manners, PLAIN_ENGINE, PLAIN_LOAD, PLAIN_NETWORK, type WorldSpec } from "../../src/sim/spec.ts";
import { runWorld } from "../../src/sim/world.ts";

// What callers are told, held against what then happens, in worlds where only a part of them obeys.
//
// The true wait of a refusal is the time from it until as many commands have begun as waited then, or until none waits
// any more, whichever comes first: from then on there is a place for this caller, unless a later one takes it.

interface Refusal {
  readonly tenant: string;
  readonly atMs: number;
  readonly toldSeconds: number;
  readonly trueSeconds: number;
}

export interface Measured {
  readonly refusals: readonly Refusal[];
  /** Callers that waited as long as they were told: how many came back once, and how many of those were taken. */
  readonly obedient: { readonly returned: number; readonly taken: number };
  /** Tries of callers in all, by tenant: when, and whether they were taken. */
  readonly tries: readonly { readonly tenant: string; readonly atMs: number; readonly taken: boolean }[];
}

/** Runs a world and holds every wait told at a full queue against the true one. */
export function measureWaits(spec: WorldSpec): Measured {
  const beganMs: number[] = [];
  const emptyMs: number[] = [];
  const open: { tenant: string; atMs: number; toldSeconds: number; begun: number; waiting: number }[] = [];
  const tries: { tenant: string; atMs: number; taken: boolean }[] = [];
  const obedient = { returned: 0, taken: 0 };
  runWorld(spec, {
    listener: {
      began: (nowMs, waiting) => {
        beganMs.push(nowMs);
        if (waiting === 0) emptyMs.push(nowMs);
      },
      answered: ({ tenant, attempt, load }, heard, nowMs, waiting) => {
        const taken = heard.kind === "accepted";
        tries.push({ tenant, atMs: nowMs, taken });
        if (attempt === 2 && load.manners === "obey") {
          obedient.returned += 1;
          if (taken) obedient.taken += 1;
        }
        if (heard.kind === "accepted") return;
        const toldSeconds = heard.retryAfterSeconds;
        open.push({ tenant, atMs: nowMs, toldSeconds, begun: beganMs.length, waiting });
      },
    },
  });
  const refusals = open.map(({ tenant, atMs, toldSeconds, begun, waiting }) => {
    const startedMs = waiting === 0 ? atMs : (beganMs[begun + waiting - 1] ?? Number.POSITIVE_INFINITY);
    const idleMs = emptyMs.find((ms) => ms >= atMs) ?? Number.POSITIVE_INFINITY;
    return { tenant, atMs, toldSeconds, trueSeconds: (Math.min(startedMs, idleMs) - atMs) / 1000 };
  });
  return { refusals, obedient, tries };
}

/** Tenants in front of an engine, some of whose callers obey. */
export interface Scene {
  readonly seed: number;
  readonly perSecond: number;
  readonly bound: number;
  readonly isolates: number;
  /** Commands in flight at the most; absent: as many as the bound lets in. */
  readonly limit?: number;
  readonly tenants: readonly { readonly name: string; readonly weight: number }[];
  readonly loads: readonly {
    readonly tenant: string;
    readonly manners: Manners;
    readonly phases: WorldSpec["loads"][number]["phases"];
  }[];
}

/** Slots of the backend; a job takes as long as the pace asks for. */
const SLOTS = 4;

export function sceneWorld({ seed, perSecond, bound, isolates, limit, tenants, loads }: Scene): WorldSpec {
  const inFlight = limit === undefined ? null : ({ algorithm: "fixed", params: { limit }, windowed: false } as const);
  return {
    seed,
    seconds: 3_600,
    tenants: tenants.map((tenant) => ({ ...tenant, limit: null })),
    network: PLAIN_NETWORK,
    faults: [],
    loads: loads.map(({ tenant, manners, phases }) => ({
      ...PLAIN_LOAD,
      tenants: [tenant],
      manners,
      phases,
      triesMax: 2_000,
    })),
    engine: {
      ...PLAIN_ENGINE,
      bound,
      concurrency: SLOTS,
      isolates,
      flow: { limit: inFlight, writeRate: null },
    },
    backend: { jobMs: (1_000 * SLOTS) / perSecond, spread: 0.1, quota: null, troubles: [] },
  };
}
