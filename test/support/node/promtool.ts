import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

/** Prometheus's own tool, which judges rules, their tests and what `/metrics` says. */

/** What to do when there is none. */
export const NO_PROMTOOL = "there is no promtool: install it (Debian: apt-get install prometheus)";

/** @returns null when it is nowhere on the path */
export function findPromtool(env: Readonly<Record<string, string | undefined>> = process.env): string | null {
  const folders = (env.PATH ?? "").split(path.delimiter);
  return folders.map((folder) => path.join(folder, "promtool")).find((file) => existsSync(file)) ?? null;
}

/** Whether its tests are left out: on a machine without it, but never in CI, where that is a failure. */
export function skipsPromtool(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return findPromtool(env) === null && env.CI !== "true";
}

export interface Judged {
  readonly code: number;
  /** All that it said. */
  readonly said: string;
}

/** @throws Error when there is no promtool */
export function promtool(args: readonly string[], input = ""): Promise<Judged> {
  const file = findPromtool();
  if (file === null) throw new Error(NO_PROMTOOL);
  return new Promise((resolve) => {
    const child = execFile(file, [...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, said: stdout + stderr });
    });
    child.stdin?.end(input);
  });
}
