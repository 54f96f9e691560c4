import { LIMIT_DEFAULTS } from "../core/flow-control/limit.ts";
import { seeded } from "../core/random.ts";
import {
  type BackendSpec,
  type EngineSpec,
  type FaultSpec,
  type LoadSpec,
  type Manners,
  NO_FLOW,
  PLAIN_LOAD,
  type TenantSpec,
  type TroubleSpec,
  type WorldSpec,
} from "./spec.ts";

/**
 * A random world from a seed: small, so that it is run in milliseconds, and with everything in it that can go wrong.
 * What the world does is data, so that it can be made smaller while it still fails (`shrink.ts`).
 */

/** In which everything happens, and by when everything must have ended: a run is over as soon as it has. */
const SECONDS = 40;
const SECONDS_MAX = 4_000;
const MANNERS: readonly Manners[] = ["never", "obey", "ignore", "herd", "sdk", "sdk"];
const TROUBLES: readonly TroubleSpec["kind"][] = ["down", "silent", "slow", "failing", "busy", "nonsense"];
const FAULTS: readonly FaultSpec["kind"][] = [
  "engine-restart",
  "engine-crash-before",
  "engine-crash-after",
  "limiter-restart",
  "clock",
  "isolate-restart",
];

/** Draws from one generator. */
class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seeded(seed);
  }

  /** A whole number, both ends included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.#random() * (max - min + 1));
  }

  chance(perMille: number): boolean {
    return 1000 * this.#random() < perMille;
  }

  of<T>(values: readonly T[]): T {
    const value = values[this.whole(0, values.length - 1)];
    if (value === undefined) throw new Error("nothing to draw from");
    return value;
  }

  list<T>(length: number, draw: (n: number) => T): T[] {
    return Array.from({ length }, (_, n) => draw(n));
  }
}

/** @returns the world of this seed, always the same one */
export function fuzzWorld(seed: number): WorldSpec {
  const dice = new Dice(seed);
  const tenants = dice.list(dice.whole(1, 4), (n) => drawTenant(dice, `t${n}`));
  const backend = drawBackend(dice);
  const network = dice.chance(500)
    ? { delayMs: 0, dropPerMille: 0, duplicatePerMille: 0 }
    : { delayMs: dice.whole(0, 200), dropPerMille: dice.whole(0, 50), duplicatePerMille: dice.whole(0, 50) };
  return {
    seed,
    seconds: SECONDS_MAX,
    tenants,
    loads: dice.list(dice.whole(1, 3), () => drawLoad(dice, tenants)),
    engine: drawEngine(dice, backend),
    backend,
    network,
    faults: dice.list(dice.whole(0, 12), () => drawFault(dice)),
  };
}

function drawTenant(dice: Dice, name: string): TenantSpec {
  const limit = dice.chance(700) ? { perSecond: dice.of([0.5, 1, 2, 5, 10, 50]), burst: dice.whole(1, 40) } : null;
  return { name, limit, weight: dice.of([1, 1, 2, 10]) };
}

function drawLoad(dice: Dice, tenants: readonly TenantSpec[]): LoadSpec {
  const rate = () => dice.of([0, 1, 3, 6, 12]);
  return {
    ...PLAIN_LOAD,
    tenants: tenants
      .filter(() => dice.chance(700))
      .map(({ name }) => name)
      .concat(dice.of(tenants).name),
    phases: dice.list(dice.whole(1, 4), () => ({ seconds: dice.whole(1, 10), from: rate(), to: rate() })),
    criticalPerMille: dice.of([0, 0, 100, 500]),
    spacing: dice.of(["even", "random"]),
    manners: dice.of(MANNERS),
    triesMax: dice.whole(1, 4),
    hangUpPerMille: dice.of([0, 0, 200, 500]),
    hangUpMs: dice.whole(1, 2_000),
    deadlineMs: dice.of([null, null, 500, 5_000]),
    cancelPerMille: dice.of([0, 0, 200]),
    keyed: dice.chance(400),
    cost: dice.of([1, 1, 3]),
  };
}

function drawEngine(dice: Dice, backend: BackendSpec): EngineSpec {
  const limit = { algorithm: "aimd", windowed: false, params: { ...LIMIT_DEFAULTS.aimd, initialLimit: 20 } } as const;
  return {
    bound: dice.of([1, 3, 10, 30]),
    enqueueWaitMs: dice.of([0, 500, 3_000]),
    waitersMax: dice.whole(1, 10),
    retryAfter: dice.of(["places", "plain"]),
    overflow: dice.of(["refuse", "refuse", "refuse", "defer"]),
    deferredMax: dice.whole(0, 20),
    flow: dice.of([NO_FLOW, NO_FLOW, { limit, writeRate: { perSecond: 5, burst: 5, warmUpSeconds: 0 } }]),
    concurrency: dice.whole(1, 6),
    attemptsMax: dice.whole(1, 4),
    backoff: { baseMs: dice.of([100, 1_000]), maxMs: 5_000 },
    breakerFailures: dice.whole(1, 6),
    timeoutMs: dice.of([500, 3_000, 30_000]),
    quota: dice.chance(500) ? backend.quota : null,
    isolates: dice.of([0, 1, 3]),
  };
}

function drawBackend(dice: Dice): BackendSpec {
  const troubles = dice.list(dice.of([0, 1, 2]), (): TroubleSpec => {
    const fromSeconds = dice.whole(0, SECONDS);
    return { fromSeconds, toSeconds: fromSeconds + dice.whole(1, 15), kind: dice.of(TROUBLES) };
  });
  const quota = dice.chance(300) ? { burst: dice.whole(1, 20), perMinute: dice.whole(10, 200) } : null;
  return { jobMs: dice.of([1, 50, 300, 1_500]), spread: dice.of([0, 0.5]), quota, troubles };
}

function drawFault(dice: Dice): FaultSpec {
  const ms = dice.of([-3_600_000, -90_000, -5_000, -300, 300, 5_000, 90_000, 3_600_000]);
  return { atSeconds: dice.whole(0, 10 * SECONDS) / 10, kind: dice.of(FAULTS), ms };
}
