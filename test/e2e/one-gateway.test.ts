import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { commandOf } from "../../src/cli/process-table.ts";
import { serveToEnd, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// What is left of a gateway that was killed or interrupted, as real processes with real time.

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const END_MS_MAX = 15_000;
/** Each start bundles the Worker, on a machine that other tests share. */
const TWO_STARTS_MS_MAX = 120_000;

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const { folder, remove } = await temporaryFolder();
  await run(folder).finally(remove);
}

function pidIn(folder: string, file: string): number {
  return Number(readFileSync(path.join(folder, file), "utf8"));
}

async function until(holds: () => boolean): Promise<void> {
  const endMs = performance.now() + END_MS_MAX;
  while (!holds() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(holds()).toBe(true);
}

/** The processes of a group that have not ended; one that nobody has collected has. */
function groupOf(pgid: number): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      if (!Number.isInteger(pid)) return false;
      try {
        const [state, , group] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
        return state !== "Z" && Number(group) === pgid;
      } catch {
        return false;
      }
    });
}

function npmStart(folder: string): ChildProcess & { readonly pid: number } {
  const child = spawn("npm", ["start", "--", "--port", "0", "--persist-to", folder], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (child.pid === undefined) throw new Error("npm does not start");
  return Object.assign(child, { pid: child.pid });
}

/** Resolves when a text was printed. */
function printed(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve) => {
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        output += String(chunk);
        if (output.includes(text)) resolve();
      });
    }
  });
}

describe("a gateway whose process is killed", () => {
  test(
    "takes its runtime with it, and the next one starts on the same folder",
    () =>
      inFolder(async (folder) => {
        const first = await startGatewayProcess(folder);
        const runtime = pidIn(folder, "workerd.pid");
        expect(commandOf(runtime)).toContain("workerd");
        process.kill(pidIn(folder, "gateway.pid"), "SIGKILL");
        const second = await startGatewayProcess(folder);
        expect(commandOf(runtime)).toBe("");
        expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
        await second.kill();
        await first.kill().catch(() => undefined);
      }),
    TWO_STARTS_MS_MAX,
  );

  test(
    "of several that start at once on one folder one serves, and the others say so",
    () =>
      inFolder(async (folder) => {
        const starts = await Promise.allSettled(Array.from({ length: 3 }, () => startGatewayProcess(folder)));
        const served = starts.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
        const refused = starts.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
        for (const gateway of served) await gateway.kill();
        expect(served).toHaveLength(1);
        for (const why of refused) expect(why).toContain(`runs on ${folder}`);
      }),
    TWO_STARTS_MS_MAX,
  );
});

describe.skipIf(process.platform !== "linux")("npm start that is interrupted", () => {
  /** When the signal comes, and to whom. */
  const moments = {
    "during the build": async () => undefined,
    "during the start": (child: ChildProcess) => printed(child, "serve.ts"),
    "while it serves": (child: ChildProcess) => printed(child, "listens on"),
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const cases = Object.entries(moments).flatMap(([when, moment], n) => [
    { when, moment, signal: signals[n % 3] ?? "SIGINT", whom: "npm" },
    { when, moment, signal: signals[(n + 1) % 3] ?? "SIGINT", whom: "npm" },
    { when, moment, signal: signals[(n + 2) % 3] ?? "SIGINT", whom: "the group" },
  ]);

  test.each(cases)("$when, by $signal to $whom, leaves nothing running", ({ moment, signal, whom }) =>
    inFolder(async (folder) => {
      const child = npmStart(folder);
      await moment(child);
      process.kill(whom === "npm" ? child.pid : -child.pid, signal);
      await until(() => groupOf(child.pid).length === 0);
    }),
  );
});

test("a database that is damaged is named at the start, with what to do, and nothing starts", () =>
  inFolder(async (folder) => {
    const gateway = await startGatewayProcess(folder);
    await gateway.kill();
    const d1 = path.join(folder, "v3/d1");
    const [name = ""] = readdirSync(d1, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".sqlite"),
    );
    writeFileSync(path.join(d1, name), "not a database");
    const { code, output } = await serveToEnd(["--port", "0", "--persist-to", folder]);
    expect(code).toBe(1);
    expect(output).toContain(path.join(d1, name));
    expect(output).toContain("put a copy of it back");
    expect(output.trim().split("\n")).toHaveLength(1);
  }));
