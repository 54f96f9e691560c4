import { allowedBy, type Promised } from "./limits-promised.ts";
import type { Measuring } from "./measure.ts";
import { check } from "./sides.ts";
import { TIGHT } from "./workers.ts";

/**
 * What a limiter lets through when far more comes than it may admit: counted against exactly what its own setting
 * promises, with one isolate and with two that answer for the same key.
 */

/** Of the tier `tight`, which our limiters go by. */
const BUCKET = { kind: "bucket", burst: 200, perSecond: 200 } as const;
const SECONDS = 5;
const CONNECTIONS = 64;

interface Limiter {
  readonly label: string;
  readonly workers: readonly [string, string];
  readonly promise: Promised;
}

const window = (side: "store" | "memory" | "binding", begins: "hit" | "clock") => {
  const { LIMIT, WINDOW_SECONDS } = TIGHT[side];
  return { kind: "window", begins, limit: LIMIT, seconds: WINDOW_SECONDS } as const;
};

const LIMITERS: readonly Limiter[] = [
  { label: "our check, exact", workers: ["exact", "exact-2"], promise: BUCKET },
  { label: "our check, leased", workers: ["leased", "leased-2"], promise: BUCKET },
  {
    label: "hono-rate-limiter, store of objects",
    workers: ["tight-store", "tight-store-2"],
    promise: window("store", "hit"),
  },
  {
    label: "the platform's rate limit binding, as emulated",
    workers: ["tight-binding", "tight-binding-2"],
    promise: window("binding", "clock"),
  },
  {
    label: "rate-limiter-flexible, memory",
    workers: ["tight-memory", "tight-memory-2"],
    promise: window("memory", "hit"),
  },
];

export interface AdmissionRow {
  readonly label: string;
  readonly isolates: number;
  /** In words: "200 at once, 200/s" */
  readonly limit: string;
  readonly asked: number;
  readonly allowed: number;
  readonly admitted: number;
}

export async function measureAdmission({ server, loader, say }: Measuring): Promise<AdmissionRow[]> {
  const rows: AdmissionRow[] = [];
  for (const isolates of [1, 2]) {
    for (const { label, workers, promise } of LIMITERS) {
      say(`over-admission: ${label}, ${isolates} isolate${isolates === 1 ? "" : "s"}`);
      const ports = await Promise.all(workers.slice(0, isolates).map((worker) => server.port(worker)));
      const beganMs = Date.now();
      const { answered, matched, seconds } = await loader.run({
        ports,
        // Each time a key that nobody has used.
        requests: [check(`tight${rows.length}`)],
        connections: CONNECTIONS,
        match: '"allowed":true',
        pace: { kind: "closed", seconds: SECONDS },
      });
      const allowed = allowedBy(promise, beganMs, seconds);
      rows.push({ label, isolates, limit: inWords(promise), asked: answered, allowed, admitted: matched });
    }
  }
  return rows;
}

function inWords(promise: Promised): string {
  if (promise.kind === "bucket") return `${promise.burst} at once, ${promise.perSecond}/s`;
  return `${promise.limit} in ${promise.seconds} s`;
}
