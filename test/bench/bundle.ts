import path from "node:path";
import { build } from "vite";

/** Workers for a measurement, bundled in memory as `npm start` bundles the gateway. */

export interface Module {
  readonly type: "ESModule";
  readonly path: string;
  readonly contents: string;
}

const bundled = new Map<string, Promise<Module[]>>();

/**
 * Bundles a Worker once: a run measures the same code from its beginning to its end, whatever becomes of the sources.
 *
 * @param root where the sources are; what they import is looked for from there
 * @param entry the Worker's file, relative to the root
 */
export function bundleWorker(root: string, entry: string): Promise<Module[]> {
  const file = path.join(root, entry);
  const known = bundled.get(file) ?? bundleFile(root, file);
  bundled.set(file, known);
  return known;
}

async function bundleFile(root: string, file: string): Promise<Module[]> {
  const built = await build({
    root,
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: false,
      target: "esnext",
      rollupOptions: {
        external: [/^cloudflare:/],
        input: file,
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
