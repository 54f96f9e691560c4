import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4MiniflareOptions } from "miniflare";
import { build } from "vite";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { type Config, parseConfig } from "../config.ts";
import { lockFolder } from "./folder-lock.ts";
import { assertTenant, migrateLocal, seedDemoTenants } from "./local-database.ts";
import { ensurePages, withPagesBeside } from "./pages.ts";
import { tieRuntimeToThisProcess } from "./runtime.ts";
import { assertSoundDatabases } from "./state-files.ts";

/**
 * The whole gateway on this machine: the Worker as wrangler.toml describes it, on workerd directly (without the
 * development proxies), with its database migrated and the demo tenants in it.
 */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The admin token of a local gateway. A deployed one has only what `wrangler secret put` gave it. */
const DEV_ADMIN_TOKEN = "dev-admin";

export interface GatewayOptions {
  /** 0: a free one. */
  readonly port: number;
  /** The folder of all state; made when it is not there. */
  readonly persistTo: string;
  /** Variables for this run, over those of wrangler.toml. */
  readonly vars: Readonly<Record<string, string>>;
}

export interface Gateway {
  readonly url: string;
  readonly adminToken: string;
  /** As it was started with, checked. */
  readonly config: Config;
  stop(): Promise<void>;
}

/**
 * @param interrupted ends the start early: the process must end then, and takes everything with it
 * @throws Error with one line for people: a bad variable, a port or a folder that is taken, a damaged database
 */
export async function startGateway(options: GatewayOptions, interrupted: AbortSignal): Promise<Gateway> {
  const { workerOptions } = unstable_getMiniflareWorkerOptions(path.join(ROOT, "wrangler.toml"));
  // Tokens of an earlier run are worth nothing: their clients ask for new ones.
  const secrets = { ADMIN_TOKEN: DEV_ADMIN_TOKEN, OAUTH_SECRET: randomBytes(32).toString("hex") };
  const bindings = { ...secrets, ...Object(workerOptions.bindings), ...options.vars };
  const config = parseConfig(bindings);
  await assertPortFree(options.port);
  const release = await lockFolder(options.persistTo, interrupted);
  // Where wrangler keeps local state too, so that `wrangler d1 execute --local` sees the same database.
  const state = path.resolve(options.persistTo, "v3");
  assertSoundDatabases(state);
  tieRuntimeToThisProcess(options.persistTo);
  const shared = {
    host: "127.0.0.1",
    resourcePersistencePath: state,
    log: new Log(LogLevel.WARN),
    cf: false,
  } as const;
  const { gateway: worker, pages } = withPagesBeside({ ...workerOptions, name: "headgate", bindings });
  const [modules] = await Promise.all([
    bundle(),
    prepareDatabase({ ...shared, workers: [{ ...worker, ...NOTHING }] }, config),
    ensurePages(),
  ]);
  interrupted.throwIfAborted();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ ...shared, port: options.port, workers: [{ ...worker, modules }, pages] }),
  );
  const url = await miniflare.ready;
  return { url: url.origin, adminToken: config.ADMIN_TOKEN, config, stop: () => miniflare.dispose().then(release) };
}

/** A Worker that does nothing, on a port that nobody knows, and keeps no objects. */
const NOTHING = {
  modules: [{ type: "ESModule" as const, path: "nothing.js", contents: "export default {}" }],
  durableObjects: {},
  serviceBindings: {},
};

/**
 * Makes the database ready before anybody can ask it: who comes as soon as the port is open must find its tenant.
 *
 * @throws Error with one line, when a variable names a tenant that there is not
 */
async function prepareDatabase(options: V4MiniflareOptions, { LOCAL_TENANT: local }: Config): Promise<void> {
  const miniflare = new Miniflare(convertV4MiniflareOptions(options));
  try {
    await miniflare.ready;
    const database = await miniflare.getD1Database("DB");
    await migrateLocal(database, path.join(ROOT, "migrations"));
    await seedDemoTenants(database, Date.now());
    if (local !== "") await assertTenant(database, local);
  } finally {
    await miniflare.dispose();
  }
}

/** The Worker's modules, bundled in memory. */
async function bundle(): Promise<{ type: "ESModule"; path: string; contents: string }[]> {
  const built = await build({
    root: ROOT,
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: false,
      target: "esnext",
      rollupOptions: {
        external: [/^cloudflare:/],
        input: path.join(ROOT, "src/index.ts"),
        preserveEntrySignatures: "strict",
        output: { format: "es", entryFileNames: "index.js" },
      },
    },
  });
  if (!("output" in built)) throw new Error("the bundler gave no output");
  return built.output.flatMap((file) =>
    file.type === "chunk" ? [{ type: "ESModule", path: file.fileName, contents: file.code }] : [],
  );
}

function assertPortFree(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", () => reject(new Error(`port ${port} is taken; choose another with --port N`)));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve()));
  });
}
