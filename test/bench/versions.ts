import { createRequire } from "node:module";
import path from "node:path";
import { OWN_ROOT } from "./workers.ts";

/** The versions of what is measured, as they are installed. */

const PACKAGES = [
  "workerd",
  "wrangler",
  "miniflare",
  "hono",
  "hono-rate-limiter",
  "@hono-rate-limiter/cloudflare",
  "rate-limiter-flexible",
];

/** @param root where the product was taken from */
export function describeVersions(root: string): string[] {
  const require = createRequire(path.join(root, "package.json"));
  const ownRequire = createRequire(path.join(OWN_ROOT, "package.json"));
  const versionOf = (name: string): string => {
    const from = name === "hono" ? require : ownRequire;
    // Some do not let their package.json be imported: it lies in the first folder above that is called as they are.
    const file = from.resolve.paths(name)?.map((folder) => path.join(folder, name, "package.json")) ?? [];
    for (const candidate of file) {
      try {
        const { version }: { version: string } = require(candidate);
        return version;
      } catch {
        // Not in this folder.
      }
    }
    return "unknown";
  };
  return [`node ${process.versions.node}`, ...PACKAGES.map((name) => `${name} ${versionOf(name)}`)];
}
