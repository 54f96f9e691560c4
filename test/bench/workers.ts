import path from "node:path";
import { fileURLToPath } from "node:url";
import type { V4WorkerOptions as WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { bundleWorker } from "./bundle.ts";

/**
 * The Workers of a benchmark, all in one workerd, each with a socket of its own that leads straight to it: no entry
 * Worker, no development proxy, the same for all. A Worker whose name ends in `-2` is a second isolate of the same code
 * over the same objects.
 */

export const OWN_ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HERE = "test/bench/workers";
const DATE = "2026-10-01";
/** No limiter refuses anything of what is measured for speed. */
const NO_LIMIT = { LIMIT: 1_000_000_000, WINDOW_SECONDS: 10 } as const;
/** The limits whose excess is counted, all 200 a second. The platform's binding knows windows of 10 s and 60 s alone. */
export const TIGHT = {
  store: { LIMIT: 200, WINDOW_SECONDS: 1 },
  memory: { LIMIT: 200, WINDOW_SECONDS: 1 },
  binding: { LIMIT: 2_000, WINDOW_SECONDS: 10 },
} as const;

/** Variables that only this benchmark's gateways have. */
const SECRETS = { ADMIN_TOKEN: "bench-admin" };
export const ADMIN = { Authorization: `Bearer ${SECRETS.ADMIN_TOKEN}` };

const OURS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  leased: { LIMITER_MODE: "leased" },
  exact: { LIMITER_MODE: "exact" },
  // Full for good: paused, and nobody waits for room, since none will come.
  full: { LIMITER_MODE: "leased", QUEUE_MAX: "10", ENQUEUE_WAIT_MS: "0" },
  commands: { LIMITER_MODE: "leased" },
  // Slower than commands come in, so that its queue is full all the time.
  busy: { LIMITER_MODE: "leased", QUEUE_MAX: "100", ENGINE_RATE_MAX: "500" },
  // So slow that five times as much can be offered on the same machine.
  slow: { LIMITER_MODE: "leased", ENGINE_RATE_MAX: "250" },
};

/** @param root where the product is taken from: this checkout, or another one */
export async function benchWorkers(root: string): Promise<WorkerOptions[]> {
  const [product, bare, peers] = await Promise.all([
    bundleWorker(root, "src/index.ts"),
    bundleWorker(OWN_ROOT, `${HERE}/bare.ts`),
    bundleWorker(OWN_ROOT, `${HERE}/peers.ts`),
  ]);
  const { workerOptions } = unstable_getMiniflareWorkerOptions(path.join(root, "wrangler.toml"));
  // Static files would put a proxy in front of the Worker; none of them is measured.
  const { assets: _assets, ...deployed } = workerOptions;
  const ours = (name: string, vars: Readonly<Record<string, string>>, objectsOf: string): WorkerOptions => ({
    ...deployed,
    name,
    modules: product,
    // Lines of the log go to a screen here, and to nobody's.
    bindings: { ...SECRETS, ...Object(deployed.bindings), LOG_REQUESTS: "off", ...vars },
    durableObjects: Object.fromEntries(
      Object.entries(deployed.durableObjects ?? {}).map(([binding, given]) => {
        const { className } = typeof given === "string" ? { className: given } : given;
        return [binding, objects(className, name, objectsOf, true)];
      }),
    ),
    ...SOCKET,
  });
  return [
    ...Object.entries(OURS).map(([name, vars]) => ours(name, vars, name)),
    ...["leased", "exact"].map((name) => ours(`${name}-2`, OURS[name] ?? {}, name)),
    ...["hono", "headers", "object", "row"].map((side) => ({
      ...plain(`bare-${side}`, bare, { SIDE: side }),
      durableObjects: { OBJECTS: objects("Bare", side, side, true) },
    })),
    ...(["store", "binding", "memory"] as const).flatMap((side) => [
      peer(side, `peer-${side}`, `peer-${side}`, NO_LIMIT, peers),
      peer(side, `tight-${side}`, `tight-${side}`, TIGHT[side], peers),
      peer(side, `tight-${side}-2`, `tight-${side}`, TIGHT[side], peers),
    ]),
  ];
}

/** @returns the code of a Worker as it runs, for whoever looks for a line of it */
export async function workerCode(root: string, worker: string): Promise<string> {
  const [from, entry] =
    worker in OURS ? [root, "src/index.ts"] : [OWN_ROOT, `${HERE}/${worker.startsWith("bare") ? "bare" : "peers"}.ts`];
  const [first] = await bundleWorker(from, entry);
  return first?.contents ?? "";
}

interface Limit {
  readonly LIMIT: number;
  readonly WINDOW_SECONDS: number;
}

function peer(side: string, name: string, objectsOf: string, limit: Limit, modules: Modules): WorkerOptions {
  // The binding takes no other period than these two, and its own limits have none.
  const simple = { limit: limit.LIMIT, period: limit.WINDOW_SECONDS === 60 ? (60 as const) : (10 as const) };
  return {
    ...plain(name, modules, { SIDE: side, ...limit }),
    // Its documentation declares the class without SQLite.
    ...(side === "store"
      ? { durableObjects: { CACHE: objects("DurableObjectRateLimiter", name, objectsOf, false) } }
      : {}),
    ...(side === "binding" ? { ratelimits: { RATE_LIMITER: { namespace_id: objectsOf, simple } } } : {}),
  };
}

type Modules = Awaited<ReturnType<typeof bundleWorker>>;

const SOCKET = { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] };

function plain(name: string, modules: Modules, bindings: Readonly<Record<string, string | number>>): WorkerOptions {
  return { name, modules, compatibilityDate: DATE, bindings, ...SOCKET };
}

function objects(className: string, worker: string, objectsOf: string, useSQLite: boolean) {
  return { className, useSQLite, ...(worker === objectsOf ? {} : { scriptName: objectsOf }) };
}
