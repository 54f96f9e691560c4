import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { V4WorkerOptions, V4WorkerOptionsShape } from "miniflare";
import { build } from "vite";

/**
 * The pages on this machine: built where nobody has, and served by a Worker of their own beside the gateway's, to which
 * that is bound. With the files bound to the gateway itself every request would take the way past them.
 */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDER = path.join(ROOT, "dist/web");
const NAME = "headgate-pages";

/**
 * Builds the pages unless they are there. Several processes may do so at the same time: each builds in a folder of its
 * own, and the first that is done gives it its name.
 */
export async function ensurePages(): Promise<void> {
  if (existsSync(FOLDER)) return;
  const own = `${FOLDER}.${process.pid}`;
  await build({ root: ROOT, configFile: path.join(ROOT, "vite.config.ts"), logLevel: "error", build: { outDir: own } });
  try {
    await rename(own, FOLDER);
  } catch (error) {
    await rm(own, { recursive: true, force: true });
    if (!existsSync(FOLDER)) throw error;
  }
}

/**
 * Takes a Worker's files out of its options, into a second Worker that hands them out.
 *
 * @returns the Worker that answers requests, and the one that it asks for files
 */
export function withPagesBeside(worker: V4WorkerOptionsShape): {
  gateway: V4WorkerOptionsShape;
  pages: V4WorkerOptions;
} {
  const { assets, ...gateway } = worker;
  if (assets?.binding === undefined) throw new Error("wrangler.toml binds no [assets]");
  const { binding, directory, assetConfig = {} } = assets;
  const pages: V4WorkerOptions = {
    name: NAME,
    modules: [{ type: "ESModule", path: "pages.js", contents: "export default {}" }],
    assets: { directory, assetConfig, routerConfig: { has_user_worker: false } },
  };
  return { gateway: { ...gateway, serviceBindings: { ...worker.serviceBindings, [binding]: NAME } }, pages };
}
