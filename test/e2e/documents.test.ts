import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type Block, isPrinted, isProgram, readBlocks, surprises } from "../support/node/document-blocks.ts";
import { DocumentReader, linkPackages } from "../support/node/document-reader.ts";
import { type ServerProcess, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// Every command and program of the documents, run in order as a reader runs them, and compared with what they show.

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DOCUMENTS = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT }).toSorted(), "src/client/README.md"];

/** Lines that are not run here, and why. What they call must exist all the same. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "npm ci && npm start": "the gateway that all documents share stands for it",
  "npm ci && npm test": "this test is a part of it",
  "npm run demo": "it takes two and a half minutes; its parts have tests of their own",
  "npx wrangler login": "it needs an account",
  "npx wrangler d1 create headgate": "it needs an account",
  "npx wrangler secret put ADMIN_TOKEN": "it needs an account",
  "npm run deploy": "it needs an account",
  "npm init -y && npm pkg set type=module && npm install @camunda8/orchestration-cluster-api@9.1.5":
    "it needs the network; the same version is among our own packages",
  "npm pack ./src/client": "it writes into the working tree; the test of the client's package does it in a copy",
  "npm install ./headgate-0.1.0.tgz": "the test of the client's package does it",
};

const run = promisify(execFile);
const textOf = (document: string) => readFileSync(path.join(ROOT, document), "utf8");
const blocksOf = (document: string) => readBlocks(document, textOf(document));

let state: Awaited<ReturnType<typeof temporaryFolder>>;
let gateway: ServerProcess;

beforeAll(async () => {
  state = await temporaryFolder();
  gateway = await startGatewayProcess(state.folder);
});
afterAll(async () => {
  await gateway.kill();
  await state.remove();
});

describe.each(DOCUMENTS.filter((document) => blocksOf(document).some(isRun)))("the blocks of %s", (document) => {
  let reader: DocumentReader;
  beforeAll(async () => {
    reader = await DocumentReader.begin(gateway.url);
  });
  afterAll(() => reader.end());

  test.each(blocksOf(document).map((block) => [block.line, firstLine(block), block] as const))(
    "line %i: %s",
    async (line, _name, block) => {
      if (!isRun(block) && block.file === null) return;
      const printed = await reader.run({ ...block, text: withoutNotRun(block.text) }).catch((error: unknown) => {
        throw new Error(`${document}:${line} failed: ${error}`);
      });
      expect(surprises(printed, block.output), `${document}:${line} printed:\n${printed}`).toEqual([]);
      const isAsShown = block.output === null || isPrinted(block.output, printed);
      expect(isAsShown, `${document}:${line} shows:\n${block.output}\nand printed:\n${printed}`).toBe(true);
    },
    120_000,
  );
});

function isRun({ language, text }: Block): boolean {
  return isProgram({ language }) || (language === "sh" && withoutNotRun(text) !== "");
}

function withoutNotRun(text: string): string {
  const lines = text.split("\n").filter((line) => !(line in NOT_RUN));
  return lines.join("\n").trim();
}

function firstLine({ text }: Block): string {
  return (text.split("\n")[0] ?? "").slice(0, 60).replaceAll("%", "%%");
}

test("the documents' programs in TypeScript compile", async () => {
  const { folder, remove } = await temporaryFolder();
  await linkPackages(folder);
  const programs = DOCUMENTS.flatMap(blocksOf).filter(({ language }) => language === "ts");
  const compilerOptions = {
    ...{ module: "nodenext", target: "esnext", lib: ["esnext", "dom"], types: [] },
    ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true },
  };
  await writeFile(path.join(folder, "package.json"), '{"type":"module"}');
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  for (const { document, line, text } of programs) {
    await writeFile(path.join(folder, `${document.replaceAll("/", "-")}-line-${line}.ts`), text);
  }
  const tsc = path.join(ROOT, "node_modules/.bin/tsc");
  const faults = await run(tsc, ["-p", folder]).catch(({ stdout }: { stdout: string }) => ({ stdout }));
  await remove();
  expect(programs.length).toBeGreaterThan(0);
  expect(faults.stdout).toBe("");
});

describe("what the documents name", () => {
  const all = DOCUMENTS.map((document) => ({ document, text: textOf(document) }));

  test("a line that is not run is in a document, and the scripts and programs that it calls exist", async () => {
    const lines = new Set(DOCUMENTS.flatMap((document) => blocksOf(document).flatMap(({ text }) => text.split("\n"))));
    expect(Object.keys(NOT_RUN).filter((line) => !lines.has(line))).toEqual([]);
    for (const line of Object.keys(NOT_RUN)) {
      for (const [, script = ""] of line.matchAll(/npm (?:run )?(start|test|demo|deploy)/g)) {
        expect(Object.keys(manifest.scripts), line).toContain(script);
      }
      for (const [, program = ""] of line.matchAll(/npx (\S+)/g)) {
        expect(existsSync(path.join(ROOT, "node_modules/.bin", program)), line).toBe(true);
      }
      for (const [, name = "", version] of line.matchAll(/(@\S+)@(\S+)/g)) {
        expect(Object.entries(manifest.devDependencies), line).toContainEqual([name, version]);
      }
    }
    const demo = path.join(ROOT, "src/cli/demo.ts");
    expect((await run(process.execPath, [demo, "--help"])).stdout).toContain("npm run demo");
  });

  test("a link leads to a file or folder that is there, and to a heading in it", () => {
    const broken = all.flatMap(({ document, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].flatMap(([link, file = "", heading]) => {
        const target = file === "" ? document : path.join(path.dirname(document), file);
        if (!existsSync(path.join(ROOT, target))) return [`${document}: ${link}`];
        return heading === undefined || headingsOf(textOf(target)).includes(heading) ? [] : [`${document}: ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test("a test that proves an invariant is there", () => {
    const named = all.flatMap(({ text }) => [...text.matchAll(/`(test\/[\w./-]+)`/g)].map(([, file = ""]) => file));
    expect(named.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });
});

/** The anchors of a document's headings, as GitHub makes them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}
