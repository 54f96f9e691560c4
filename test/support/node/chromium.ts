import { existsSync } from "node:fs";

/** Where the system's Chromium is, for the browser tests; they bring none of their own. */

const USUAL_PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** What to do when there is none. */
export const NO_CHROMIUM =
  "there is no Chromium: install it (Debian: apt-get install chromium) or name one with CHROMIUM_PATH";

/**
 * @param env the process's variables; `CHROMIUM_PATH` goes before all usual places
 * @param isThere whether there is such a file
 * @returns null when there is none
 * @throws Error when `CHROMIUM_PATH` names a file that is not there
 */
export function findChromium(
  env: Readonly<Record<string, string | undefined>> = process.env,
  isThere: (file: string) => boolean = existsSync,
): string | null {
  const named = env.CHROMIUM_PATH ?? "";
  if (named === "") return USUAL_PATHS.find((file) => isThere(file)) ?? null;
  if (!isThere(named)) throw new Error(`CHROMIUM_PATH names no file: ${named}`);
  return named;
}

/** Whether browser tests are left out: on a machine without Chromium, but never in CI, where that is a failure. */
export function skipsBrowserTests(
  env: Readonly<Record<string, string | undefined>> = process.env,
  isThere: (file: string) => boolean = existsSync,
): boolean {
  return findChromium(env, isThere) === null && env.CI !== "true";
}
