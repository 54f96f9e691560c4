import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Rollup } from "vite";
import { expect, test } from "vitest";

// How much script a page is, built as it is deployed. What is fetched later, by a click or by scrolling, is not counted.

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const KILOBYTE = 1000;

/** The files of a load: some modules' own, all that these import, and what those do. */
function loaded(chunks: readonly Rollup.OutputChunk[], modules: readonly string[]): Rollup.OutputChunk[] {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const found = new Set<Rollup.OutputChunk>();
  const add = (chunk: Rollup.OutputChunk | undefined) => {
    if (chunk === undefined || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) add(byName.get(name));
  };
  for (const module of modules) {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/src/web/dashboard/${module}`)));
    if (chunk === undefined) throw new Error(`no file holds ${module}`);
    add(chunk);
  }
  return [...found];
}

test("whatever the dashboard loads first is less than 100 KB of script, not even compressed, charts included", async () => {
  const config = { root: ROOT, configFile: `${ROOT}vite.config.ts`, logLevel: "error" } as const;
  const built = await build({ ...config, build: { write: false } });
  if (!("output" in built)) throw new Error("the bundler gave no output");
  const chunks = built.output.filter((file) => file.type === "chunk");
  const loads = {
    "the way in": loaded(chunks, ["main.tsx", "sign-in.tsx"]),
    "the overview": loaded(chunks, ["main.tsx", "overview.tsx"]),
  };
  expect(loads["the overview"].some(({ moduleIds }) => moduleIds.some((id) => id.includes("/uplot/")))).toBe(true);
  for (const [name, files] of Object.entries(loads)) {
    const bytes = files.reduce((sum, { code }) => sum + Buffer.byteLength(code), 0);
    const zipped = files.reduce((sum, { code }) => sum + gzipSync(code).length, 0);
    console.log(`${name}: ${bytes} bytes of script, ${zipped} compressed`);
    expect(bytes, name).toBeLessThan(100 * KILOBYTE);
  }
});
