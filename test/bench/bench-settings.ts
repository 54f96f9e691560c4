import { existsSync } from "node:fs";
import path from "node:path";
import { type OptionValues, readOptions, text, usageText, whole } from "../../src/cli/options.ts";
import { SIDES } from "./sides.ts";
import { OWN_ROOT } from "./workers.ts";

/** What may be said to `npm run bench`. */

const PARTS = {
  all: "everything, and RESULTS.md and results.svg are written (without a part)",
  check: "the check, exact and leased, against bare routes and object calls",
  refusal: "what is refused at the edge",
  command: "durable commands against one row per request",
  peers: "other limiters on the same route, and how much each admits too many",
  latency: "below saturation, and critical commands under overload",
  memory: "a million checks and a full queue",
  profile: "profile SIDE…: where the time of these sides goes",
} as const;
export type Part = keyof typeof PARTS;

const OPTIONS = {
  seconds: whole("N", "seconds of each side in each round", { min: 1, max: 60 }, 2),
  rounds: whole("N", "rounds; results are written from 5 on", { min: 1, max: 20 }, 5),
  checks: whole("N", "checks of the part about memory", { min: 20_000, max: 100_000_000 }, 1_000_000),
  root: text("DIR", "take the product from another checkout", OWN_ROOT, assertCheckout),
};

export const BENCH_USAGE = [
  usageText(
    "npm run bench -- [PART…]",
    "measures the product against the platform and against other limiters",
    OPTIONS,
  ),
  "",
  "PART, one or more, before the options:",
  ...Object.entries(PARTS).map(([name, what]) => `  ${name.padEnd(9)} ${what}`),
  `  or sides by name: ${SIDES.map(({ id }) => id).join(", ")}`,
].join("\n");

export interface BenchSettings extends OptionValues<typeof OPTIONS> {
  /** Parts or sides; `profile` comes first. */
  readonly parts: readonly string[];
}

/** @throws Error with one line for people */
export function readBenchSettings(argv: readonly string[]): BenchSettings | "help" {
  const first = argv.findIndex((arg) => arg.startsWith("-"));
  const parts = first < 0 ? argv : argv.slice(0, first);
  const values = readOptions(first < 0 ? [] : argv.slice(first), OPTIONS);
  if (values === "help") return "help";
  const known = new Set<string>([...Object.keys(PARTS), ...SIDES.map(({ id }) => id)]);
  const strange = parts.find((part) => !known.has(part));
  if (strange !== undefined) throw new Error(`there is no part ${strange}; known are ${[...known].join(", ")}`);
  if (parts.includes("profile")) assertProfile(parts);
  return { ...values, root: path.resolve(values.root), parts: parts.length === 0 ? ["all"] : parts };
}

function assertProfile([first, ...sides]: readonly string[]): void {
  const areSides = sides.every((side) => SIDES.some(({ id }) => id === side));
  if (first !== "profile" || sides.length === 0 || !areSides) {
    throw new Error("profile comes first, and what follows are sides");
  }
}

/** Whether a part was asked for, by itself or with everything. */
export function wants({ parts }: BenchSettings, part: Exclude<Part, "all" | "profile">): boolean {
  return parts.includes("all") || parts.includes(part);
}

function assertCheckout(given: string): void {
  if (!existsSync(path.join(given, "src/index.ts")))
    throw new Error(`takes a checkout with src/index.ts, not ${given}`);
}
