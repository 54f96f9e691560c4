import type { EndCounts } from "../core/command.ts";
import { Distribution, type Sample, Timeline } from "./measures.ts";
import type { Call, Heard } from "./traffic.ts";

/** What came of a run, as plain data: for a table, for a program, for a picture. */
export interface Report {
  /** Requests, each counted once however often it was tried. */
  readonly offered: number;
  /** Of those, taken at the first try, and in the end. */
  readonly acceptedAtOnce: number;
  readonly accepted: number;
  /** Of those, refused at the first try, and still not taken when their callers gave up. */
  readonly refused: number;
  readonly gaveUp: number;
  /** Refusals of all tries. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Who was refused once and asked again: how many, and how many of them were then taken. */
  readonly firstRetries: { readonly asked: number; readonly taken: number };
  /** What was told at first tries, in seconds; null: nobody was refused. */
  readonly retryAfter: { readonly min: number; readonly max: number; readonly mean: number } | null;
  readonly critical: { readonly offered: number; readonly refused: number };
  readonly peakDepth: number;
  /** How long the oldest had waited when the last fresh request came, in seconds. */
  readonly oldestWaitSeconds: number;
  /** When nothing waited any more, for good; null: something still waited at the end. */
  readonly emptyAtSeconds: number | null;
  /** From acceptance to beginning, in seconds; null: nothing began. */
  readonly waits: { readonly p50: number; readonly p99: number; readonly max: number } | null;
  readonly lastRefusalSeconds: number | null;
  readonly ends: EndCounts;
  /** Accepted and not ended when the run was over. */
  readonly left: number;
  readonly deliveries: { readonly all: number; readonly repeats: number };
  readonly tenants: Readonly<Record<string, TenantReport>>;
  /** Of the engine's object. */
  readonly lives: number;
  readonly seconds: number;
  readonly events: number;
  readonly timeline: readonly Sample[];
}

export interface TenantReport {
  readonly offered: number;
  readonly accepted: number;
  readonly refused: number;
  readonly ended: number;
}

interface Counted {
  offered: number;
  accepted: number;
  refused: number;
  ended: number;
}

/** Listens to a run and sums it up. Memory does not grow with the length of the run. */
export class Recorder {
  readonly timeline = new Timeline();
  readonly #waits = new Distribution();
  readonly #told = new Distribution();
  readonly #tenants = new Map<string, Counted>();
  readonly #refusals: Record<string, number> = {};
  readonly #firstRetries = { asked: 0, taken: 0 };
  readonly #critical = { offered: 0, refused: 0 };
  #offered = 0;
  #acceptedAtOnce = 0;
  #accepted = 0;
  #refused = 0;
  #gaveUp = 0;
  #lastRefusalMs: number | null = null;
  #sampled = { offered: 0, accepted: 0, refused: 0 };
  #allRefusals = 0;

  asked({ attempt, tenant, critical }: Call): void {
    if (attempt === 2) this.#firstRetries.asked += 1;
    if (attempt > 1) return;
    this.#offered += 1;
    if (critical) this.#critical.offered += 1;
    this.#of(tenant).offered += 1;
  }

  answered({ attempt, tenant, critical }: Call, heard: Heard, nowMs: number): void {
    if (heard.kind === "accepted") {
      this.#accepted += 1;
      this.#of(tenant).accepted += 1;
      if (attempt === 1) this.#acceptedAtOnce += 1;
      if (attempt === 2) this.#firstRetries.taken += 1;
      return;
    }
    this.#allRefusals += 1;
    this.#lastRefusalMs = nowMs;
    this.#refusals[heard.code] = (this.#refusals[heard.code] ?? 0) + 1;
    if (attempt > 1) return;
    this.#refused += 1;
    this.#of(tenant).refused += 1;
    if (critical) this.#critical.refused += 1;
    this.#told.add(heard.retryAfterSeconds);
  }

  gaveUp(): void {
    this.#gaveUp += 1;
  }

  began(waitedMs: number): void {
    this.#waits.add(Math.max(0, waitedMs));
  }

  ended(tenant: string): void {
    this.#of(tenant).ended += 1;
  }

  sample(seconds: number, depth: number, oldestSeconds: number): void {
    const { offered, accepted, refused } = this.#sampled;
    this.timeline.add({
      seconds,
      depth,
      oldestSeconds,
      offered: this.#offered - offered,
      accepted: this.#accepted - accepted,
      refused: this.#allRefusals - refused,
    });
    this.#sampled = { offered: this.#offered, accepted: this.#accepted, refused: this.#allRefusals };
  }

  /** @param rest what the world knows besides */
  report(rest: Rest): Report {
    const { min, max, mean } = this.#told;
    const waits = this.#waits;
    const seconds = (share: number) => (waits.quantile(share) ?? 0) / 1000;
    return {
      offered: this.#offered,
      acceptedAtOnce: this.#acceptedAtOnce,
      accepted: this.#accepted,
      refused: this.#refused,
      gaveUp: this.#gaveUp,
      refusals: { ...this.#refusals },
      firstRetries: { ...this.#firstRetries },
      retryAfter: min === null || max === null || mean === null ? null : { min, max, mean },
      critical: { ...this.#critical },
      waits: waits.count === 0 ? null : { p50: seconds(0.5), p99: seconds(0.99), max: (waits.max ?? 0) / 1000 },
      lastRefusalSeconds: this.#lastRefusalMs === null ? null : this.#lastRefusalMs / 1000,
      tenants: Object.fromEntries([...this.#tenants].map(([tenant, counted]) => [tenant, { ...counted }])),
      timeline: this.timeline.samples,
      ...rest,
    };
  }

  #of(tenant: string): Counted {
    let counted = this.#tenants.get(tenant);
    if (counted === undefined) {
      counted = { offered: 0, accepted: 0, refused: 0, ended: 0 };
      this.#tenants.set(tenant, counted);
    }
    return counted;
  }
}

/** What the recorder does not hear of. */
export type Rest = Pick<
  Report,
  "peakDepth" | "oldestWaitSeconds" | "emptyAtSeconds" | "ends" | "left" | "deliveries" | "lives" | "seconds" | "events"
>;
