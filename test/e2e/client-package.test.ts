import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/node/process.ts";

// The client as a stranger gets it: packed, installed, compiled against in three worlds, and run in Node and workerd.
// It is packed from a copy, so that nothing is written into the working tree and two runs do not meet.

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

let temporary: Awaited<ReturnType<typeof temporaryFolder>>;
/** The stranger's project, with the package installed. */
let project: string;
let server: Server;
let baseUrl: string;
/** What reached the server, as `METHOD path key body`. */
const requests: string[] = [];

beforeAll(async () => {
  temporary = await temporaryFolder();
  const copy = path.join(temporary.folder, "copy");
  for (const part of ["src/client", "src/core", "tsconfig.json"]) {
    const filter = (source: string) => source !== path.join(ROOT, "src/client/dist");
    await cp(path.join(ROOT, part), path.join(copy, part), { recursive: true, filter });
  }
  await symlink(path.join(ROOT, "node_modules"), path.join(copy, "node_modules"));
  await npm(path.join(copy, "src/client"), "pack", "--ignore-scripts=false", "--pack-destination", temporary.folder);
  const [tarball = ""] = (await readdir(temporary.folder)).filter((name) => name.endsWith(".tgz"));

  project = path.join(temporary.folder, "project");
  await mkdir(project);
  await writeFile(path.join(project, "package.json"), '{"type":"module","private":true}');
  await npm(project, "install", "--offline", path.join(temporary.folder, tarball));

  server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await temporary.remove();
});

const npm = (cwd: string, ...args: string[]) =>
  run("npm", [...args, "--no-audit", "--no-fund", "--no-update-notifier"], { cwd });

/** A Headgate of two commands: it breaks the first connection, accepts the second, and tells the end of what it took. */
const answer: Parameters<typeof createServer>[1] = (request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    const { method, url, headers } = request;
    requests.push([method, url, headers["idempotency-key"] ?? "-", body].join(" "));
    if (requests.length === 1) return request.socket.destroy();
    const base = { commandId: "1000000000000001", intent: "PROCESS_INSTANCE:CREATE", attempts: 1 };
    const times = { acceptedAt: new Date(0).toISOString(), finishedAt: new Date(1).toISOString() };
    const [status, answered] =
      method === "POST"
        ? [202, { ...base, state: "queued", statusUrl: "/", queuedAhead: 1, estimatedWaitSeconds: 1 }]
        : [200, { ...base, ...times, state: "succeeded", result: { processInstanceKey: "1000000000000002" } }];
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(answered));
  });
};

/** What both runs below do: one command to its end. */
const CONSUMER = `
  const gate = createClient({ baseUrl, apiKey: "hg_test" });
  const ended = unwrap(await gate.run("PROCESS_INSTANCE:CREATE", { processId: "order" }));
  const found = ended.state === "succeeded" ? ended.result.processInstanceKey : ended.state;`;

async function expectOneCommand(output: string): Promise<void> {
  expect(output.trim()).toBe("1000000000000002");
  const key = /^POST \/v1\/commands ("[0-9a-f]{32}") /.exec(requests[0] ?? "")?.[1];
  const sent = `POST /v1/commands ${key} {"intent":"PROCESS_INSTANCE:CREATE","payload":{"processId":"order"}}`;
  expect(requests).toEqual([sent, sent, "GET /v1/commands/1000000000000001?wait=60 - "]);
  requests.length = 0;
}

describe("the package", () => {
  test("brings itself and nothing else, under the version and the license of the whole", async () => {
    const manifest = async (file: string) => JSON.parse(await readFile(file, "utf8"));
    const installed = path.join(project, "node_modules/headgate");
    const own = await manifest(path.join(installed, "package.json"));
    expect((await readdir(path.join(project, "node_modules"))).filter((name) => !name.startsWith("."))).toEqual([
      "headgate",
    ]);
    expect((await readdir(installed)).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
    expect(own.version).toBe((await manifest(path.join(ROOT, "package.json"))).version);
    expect(await readFile(path.join(installed, "LICENSE"), "utf8")).toBe(
      await readFile(path.join(ROOT, "LICENSE"), "utf8"),
    );
    expect(["dependencies", "optionalDependencies", "peerDependencies"].filter((kind) => kind in own)).toEqual([]);
  });

  test("runs in Node", async () => {
    const program = `import { createClient, unwrap } from "headgate/client";
      const [baseUrl] = process.argv.slice(2);${CONSUMER}
      console.log(found);`;
    await writeFile(path.join(project, "run.mjs"), program);
    const { stdout } = await run(process.execPath, ["run.mjs", baseUrl], { cwd: project });
    await expectOneCommand(stdout);
  });

  test("runs in a Worker", async () => {
    const installed = path.join(project, "node_modules/headgate/dist");
    const files = (await readdir(installed, { recursive: true })).filter((name) => name.endsWith(".js"));
    const modules = files.map(async (name) => ({
      type: "ESModule" as const,
      path: name.split(path.sep).join("/"),
      contents: await readFile(path.join(installed, name), "utf8"),
    }));
    const contents = `import { createClient, unwrap } from "./client/index.js";
      export default { async fetch() { const baseUrl = "${baseUrl}";${CONSUMER}
      return new Response(found); } };`;
    const worker = { type: "ESModule" as const, path: "worker.js", contents };
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        cf: false,
        workers: [{ name: "w", compatibilityDate: "2026-10-01", modules: [worker, ...(await Promise.all(modules))] }],
      }),
    );
    try {
      await expectOneCommand(await (await miniflare.dispatchFetch("http://worker.test/")).text());
    } finally {
      await miniflare.dispose();
    }
  });
});

const RIGHT = `
import { type CallError, createClient, type EndedCommand, unwrap } from "headgate/client";

declare module "headgate/client" {
  interface Intents { "INVOICE:PAY": { payload: { invoice: string }; result: { receipt: string } } }
}
const gate = createClient({ baseUrl: "http://gate.test", tenant: "acme", key: "k", fetch });

export async function use(signal: AbortSignal): Promise<string | undefined> {
  const variables = { total: 42, lines: ["a", "b"] as const, note: undefined };
  const sent = await gate.send("PROCESS_INSTANCE:CREATE", { processId: "order", variables }, { signal });
  if (!sent.ok) return say(sent.error);
  if (sent.value.outcome !== "ended") {
    const shown = unwrap(await gate.command(sent.value, { waitSeconds: 5 }));
    if (shown.state === "succeeded") return shown.result.processInstanceKey;
    if (shown.state === "queued") return shown.queuedAhead?.toFixed();
  }
  const activated: EndedCommand<"JOB:ACTIVATE"> = unwrap(await gate.run("JOB:ACTIVATE", { type: "pay", maxJobs: 2 }));
  if (activated.state === "succeeded") for (const job of activated.result.jobs) unwrap(await gate.run("JOB:COMPLETE", { jobKey: job.jobKey }));
  const paid = unwrap(await gate.run("INVOICE:PAY", { invoice: "7" }, { deadlineSeconds: 1.5 }));
  if (paid.state === "succeeded") return paid.result.receipt;
  const own = unwrap(await gate.run("SOMETHING:ELSE", { any: [1, { thing: null }] }));
  if (own.state === "failed") return own.error.message;
  const check = unwrap(await gate.check({ cost: 2, key: "ann" }));
  return !check.allowed && check.code === "rate_limited" ? check.retryAfterSeconds.toFixed() : undefined;
}

export function say(error: CallError): string {
  switch (error.code) {
    case "rate_limited":
    case "cost_exceeds_capacity":
      return error.violatedPolicies.join() + error.retryAfterSeconds;
    case "queue_full":
    case "request_limit":
    case "write_limit":
    case "engine_paused":
    case "storage_full":
    case "unavailable":
    case "idempotency_in_flight":
      return error.detail + error.retryAfterSeconds;
    case "invalid_request":
      return error.errors.map(({ path, message }) => path + message).join();
    case "unauthenticated":
    case "forbidden":
    case "not_found":
    case "method_not_allowed":
    case "conflict":
    case "payload_too_large":
    case "unsupported_media_type":
    case "idempotency_conflict":
    case "internal":
      return error.detail + error.status + error.requestId;
    case "unknown_problem":
      return error.problemCode ?? error.detail;
    case "unexpected_answer":
      return error.why + error.bodyStart;
    case "network":
    case "aborted":
    case "headers_failed":
      return String(error.cause) + error.gaveUp;
    case "timeout":
      return error.commandId ?? error.idempotencyKey ?? "";
    default: {
      const nothing: never = error;
      return nothing;
    }
  }
}
`;

/** Each line after the first three is a mistake that the types must find. */
const WRONG = `import { type CallError, createClient, type Result } from "headgate/client";
const gate = createClient({ baseUrl: "http://gate.test", apiKey: "k" });
declare const error: CallError, result: Result<string>, job: { jobKey: string };
void createClient({ baseUrl: "http://gate.test" });
void createClient({ baseUrl: "http://gate.test", apiKey: "k", headers: () => ({}) });
void gate.send("PROCESS_INSTANCE:CREATE", {});
void gate.send("PROCESS_INSTANCE:CREATE", { processId: "order", variables: [1] });
void gate.send("JOB:UPDATE", job);
void gate.send("INCIDENT:RESOLVE", { incidentKey: "1", jobKey: "1" });
void gate.send("SOMETHING:ELSE", { when: new Date(0) });
void gate.run("JOB:COMPLETE", job, { waitSeconds: 5 });
void gate.run("JOB:COMPLETE", job).then((ended) => ended.ok && ended.value.result);
void gate.run("JOB:ACTIVATE", { type: "t" }).then((e) => e.ok && e.value.state === "succeeded" && e.value.result.job);
void result.value;
export const text = (): string => { switch (error.code) { case "network": return "no answer"; } };
`;

describe("a program against it", () => {
  const WORLDS = {
    "the web": { lib: "esnext,dom", types: "" },
    Node: { lib: "esnext", types: "node" },
    Workers: { lib: "esnext", types: "@cloudflare/workers-types" },
  };

  /** @returns what the compiler says, `file(line,column): …` a line */
  async function compile(file: string, { lib, types }: { lib: string; types: string }): Promise<string> {
    const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false"];
    const world = ["--lib", lib, "--types", types, "--module", "nodenext", "--target", "esnext"];
    const compiled = run(process.execPath, [tsc, "--noEmit", ...strict, ...world, file], { cwd: project });
    return compiled.then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  }

  beforeAll(async () => {
    for (const scope of ["@types", "@cloudflare"]) {
      await symlink(path.join(ROOT, "node_modules", scope), path.join(project, "node_modules", scope));
    }
    await writeFile(path.join(project, "right.ts"), RIGHT);
    await writeFile(path.join(project, "wrong.ts"), WRONG);
  });

  test.each(Object.entries(WORLDS))("compiles with the types of %s alone", async (_world, types) => {
    expect(await compile("right.ts", types)).toBe("");
  });

  test("may be what the README shows", async () => {
    const readme = await readFile(path.join(project, "node_modules/headgate/README.md"), "utf8");
    const examples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code);
    // A block with imports of its own is a program; one without goes on from the first.
    const [first = "", ...others] = examples;
    const [program = "", ...rest] = others.filter((code) => /^import/.test(code));
    const wrapped = others
      .filter((code) => !/^import/.test(code))
      .map((code, n) => (/^declare/.test(code) ? code : `export async function f${n}() {\n${code}}\n`));
    await writeFile(path.join(project, "readme.ts"), first + wrapped.join(""));
    await writeFile(path.join(project, "worker.ts"), program);
    expect(rest).toEqual([]);
    expect(examples).toHaveLength(4);
    expect(await compile("readme.ts", WORLDS["the web"])).toBe("");
    expect(await compile("worker.ts", WORLDS.Workers)).toBe("");
  });

  test("does not compile where it is wrong: one mistake a line", async () => {
    const said = await compile("wrong.ts", WORLDS["the web"]);
    const found = new Set([...said.matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) => Number(line)));
    const mistakes = WRONG.trim()
      .split("\n")
      .slice(3)
      .map((_, n) => n + 4);
    expect([...found]).toEqual(mistakes);
  });
});
