import path from "node:path";
import { build } from "vite";

/** Workers for a measurement, bundled in memory as `npm start` bundles the gateway. */

export interface Module {
  readonly type: "ESModule";
  readonly path: string;
  readonly contents: string;
}

/**
 * @param root where the sources are; what they import is looked for from there
 * @param entry the Worker's file, relative to the root
 */
export async function bundleWorker(root: string, entry: string): Promise<Module[]> {
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
        input: path.join(root, entry),
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
