import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A real gateway, or another server, in a process group of its own, as `npm start` starts it, for tests that kill it. */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const START_MS_MAX = 60_000;

export interface ServerProcess {
  readonly url: string;
  /** Ends every process of the group at once, as a power cut would. */
  kill(): Promise<void>;
}

/** @returns the exit code and everything printed, for a command line that is expected to end by itself */
export async function serveToEnd(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawnServer("serve", args);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { code, output };
}

export type GatewayProcess = ServerProcess;

export function startGatewayProcess(folder: string, vars: readonly string[] = []): Promise<GatewayProcess> {
  return startServerProcess("serve", [
    ...["--port", "0", "--persist-to", folder],
    ...vars.flatMap((one) => ["--var", one]),
  ]);
}

/** @returns once it has printed the address that it listens on */
export async function startServerProcess(tool: Server, args: readonly string[]): Promise<ServerProcess> {
  const child = spawnServer(tool, args);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await announcedUrl(child);
  return {
    url,
    kill: async () => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await exited;
    },
  };
}

type Server = "serve" | "provider";

function spawnServer(tool: Server, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [path.join(ROOT, `src/cli/${tool}.ts`), ...args], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function announcedUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (why: string) => reject(new Error(`the server did not start (${why}):\n${output}`));
    const timer = setTimeout(() => fail("too slow"), START_MS_MAX);
    const look = (chunk: unknown) => {
      output += String(chunk);
      const url = /listens on (http:\S+)/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      // What it logs from now on is read and let go: unread, it would stop the gateway in the end.
      for (const stream of [child.stdout, child.stderr]) stream?.off("data", look).resume();
      resolve(url);
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    child.once("exit", (code) => fail(`exit ${code}`));
  });
}

/** A folder for the length of a test. */
export async function temporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "headgate-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
