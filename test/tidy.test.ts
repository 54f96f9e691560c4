import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

// The rules of the layout, held by reading src/: who may import whom, what the pure core may not touch, how large a
// file may be. src/README.md says why.

const SRC = fileURLToPath(new URL("../src/", import.meta.url));

interface Source {
  /** Relative to src/, with forward slashes. */
  readonly file: string;
  readonly text: string;
  /** Folders (or single files) of src/ that it imports from, and packages. */
  readonly imports: readonly string[];
}

const sources: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
  .map((file) => {
    const text = readFileSync(path.join(SRC, file), "utf8");
    const named = [...text.matchAll(/(?:from|import)(?:\s+|\s*\()"([^"]+)"/g)].map(([, name = ""]) => name);
    const imports = named.map((name) =>
      name.startsWith(".") ? path.relative(SRC, path.resolve(SRC, path.dirname(file), name)) : name,
    );
    return { file: file.split(path.sep).join("/"), text, imports };
  });

function within(folder: string): Source[] {
  return sources.filter(({ file }) => file.startsWith(`${folder}/`));
}

/** Imports of a folder's files that none of these allow. A folder ends in a slash. */
function foreign(folder: string, allowed: readonly string[]): string[] {
  return within(folder).flatMap(({ file, imports }) =>
    imports
      .filter((name) => !allowed.some((one) => (one.endsWith("/") ? name.startsWith(one) : name === one)))
      .map((name) => `${file} → ${name}`),
  );
}

/** What tenants' objects write to D1, beside every decision and never in its way. */
const USAGE_TABLES = ["store/usage.ts", "store/retention.ts"];

/** Of BPMN and of FEEL, and the arithmetic of FEEL. */
const PARSERS = ["bpmn-moddle", "zeebe-bpmn-moddle/resources/zeebe.json", "feelin", "decimal.js"];

describe("who imports whom", () => {
  test.each<[string, string[]]>([
    ["core", ["core/"]],
    ["wire", []],
    ["sim", ["core/", "sim/", "client/retry.ts", "client/outcome.ts"]],
    ["client", ["core/", "client/"]],
    ["web", ["core/", "sim/", "client/", "web/", "preact", "preact/hooks", "uplot", "uplot/dist/uPlot.min.css"]],
    ["store", ["core/", "store/", "zod"]],
    ["telemetry", ["core/", "telemetry/"]],
    ["identity", ["core/", "identity/", "store/", "config.ts", "@hono/zod-openapi", "zod", "jose"]],
    ["executor", ["core/", "executor/", "wire/", "@hono/zod-openapi", "zod", ...PARSERS]],
    [
      "durable",
      ["core/", "durable/", "executor/", "identity/caller.ts", "config.ts", "cloudflare:workers", ...USAGE_TABLES],
    ],
    [
      "http",
      [
        "core/",
        "http/",
        "identity/",
        "store/",
        "telemetry/",
        "config.ts",
        "durable/stubs.ts",
        "durable/limiters.ts",
        "durable/limiter-admin.ts",
        "durable/engine-upkeep.ts",
        "durable/engines.ts",
        "durable/hang-up.ts",
        "durable/partition-writes.ts",
        "durable/submission.ts",
        "durable/views.ts",
        "durable/engine-reads.ts",
        "durable/command-engine.ts",
        "durable/tenant-limiter.ts",
        "executor/embedded/payloads.ts",
        "executor/upstream/routes.ts",
        "executor/upstream/whole.ts",
        "wire/",
        "@hono/zod-openapi",
        "hono",
        "hono/",
      ],
    ],
  ])("%s imports only what it may", (folder, allowed) => {
    expect(within(folder).length).toBeGreaterThan(0);
    expect(foreign(folder, allowed)).toEqual([]);
  });

  test("only the engine's feel/ knows the parser of FEEL and its arithmetic, and only one file of bpmn/ that of BPMN", () => {
    const parsing = (pattern: RegExp) =>
      sources.filter(({ imports }) => imports.some((name) => pattern.test(name))).map(({ file }) => file);
    expect(parsing(/^(zeebe-)?bpmn-moddle/)).toEqual(["executor/embedded/bpmn/moddle.ts"]);
    expect(parsing(/^(feelin|decimal)/).filter((file) => !file.startsWith("executor/embedded/feel/"))).toEqual([]);
  });

  test("http takes types, and nothing else, from the object classes", () => {
    const taken = within("http").flatMap(({ file, text }) =>
      [...text.matchAll(/import (?!type)[^;]*"[^"]*durable\/(?:command-engine|tenant-limiter)\.ts"/g)].map(() => file),
    );
    expect(taken).toEqual([]);
  });

  test("only index.ts knows the object classes, and only stubs.ts names objects", () => {
    const importing = sources.filter(({ file, text }) => {
      const values = [
        ...text.matchAll(/^(?:import|export) (?!type\b)([^;]*?) from "[^"]*(?:tenant-limiter|command-engine)\.ts"/gm),
      ];
      return (
        file !== "index.ts" &&
        values.some(([, names = ""]) => /(?<!type )\b(TenantLimiter|CommandEngine)\b/.test(names))
      );
    });
    const naming = sources.filter(({ text }) => text.includes("idFromName(")).map(({ file }) => file);
    expect(importing.map(({ file }) => file)).toEqual([]);
    expect(naming).toEqual(["durable/stubs.ts"]);
  });

  test("nothing that is deployed imports the command line", () => {
    const deployed = sources.filter(({ file }) => !file.startsWith("cli/"));
    expect(deployed.filter(({ imports }) => imports.some((name) => name.startsWith("cli/")))).toEqual([]);
    expect(deployed.filter(({ imports }) => imports.some((name) => name.startsWith("node:")))).toEqual([]);
  });

  test("nothing imports the pages", () => {
    const others = sources.filter(({ file }) => !file.startsWith("web/"));
    expect(others.filter(({ imports }) => imports.some((name) => name.startsWith("web/")))).toEqual([]);
  });

  test("only store/ speaks SQL to D1, only durable/ and executor/ to an object's storage", () => {
    const d1 = sources.filter(({ text }) => /\.prepare\(/.test(text)).map(({ file }) => file.split("/")[0]);
    const sql = sources.filter(({ text }) => /sql\.exec[<(]/.test(text)).map(({ file }) => file.split("/")[0]);
    expect(new Set(d1)).toEqual(new Set(["store", "cli"]));
    expect(new Set(sql)).toEqual(new Set(["durable", "executor"]));
  });
});

/** Decisions that the simulator runs under its own clock: the core, and what the client makes of an answer. */
const PURE = [
  ...within("core"),
  ...within("client").filter(({ file }) => /\/(answer|decode|outcome|retry)\.ts$/.test(file)),
];

describe("the pure core", () => {
  test.each([
    ["the clock", /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\b/],
    ["chance", /\bMath\.random\b|\bcrypto\./],
    ["waiting", /\bawait\b|\basync\b|\bPromise\b|\bsetTimeout\b/],
    ["the platform", /\bfetch\(|\bcaches\b|\bnew (Request|Response|Headers)\b|cloudflare:/],
  ])("does not touch %s", (_label, pattern) => {
    const code = PURE.map(({ file, text }) => ({ file, text: withoutComments(text) }));
    expect(code.filter(({ text }) => pattern.test(text)).map(({ file }) => file)).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

describe("every file", () => {
  const LINES_MAX = 250;

  test(`has at most ${LINES_MAX} lines`, () => {
    const long = sources.map(({ file, text }) => ({ file, lines: text.split("\n").length }));
    expect(long.filter(({ lines }) => lines > LINES_MAX)).toEqual([]);
  });

  test("says what it is for", () => {
    const silent = sources.filter(({ text }) => !/\/\*\*[\s\S]{20,}?\*\//.test(text.slice(0, 3_000)));
    expect(silent.map(({ file }) => file)).toEqual([]);
  });

  test("gives up no types and leaves nothing for later", () => {
    const pattern = /\bas any\b|: any\b|@ts-ignore|@ts-expect-error|biome-ignore|\b(TODO|FIXME|XXX|HACK)\b/;
    expect(sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file)).toEqual([]);
  });
});
