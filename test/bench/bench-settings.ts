import { existsSync } from "node:fs";
import path from "node:path";
import { type OptionValues, readOptions, text, usageText, whole } from "../../src/cli/options.ts";
import { SIDES } from "./sides.ts";
import { OWN_ROOT } from "./workers.ts";

/** What may be said to `npm run bench`. */

const PARTS = ["all", "check", "refusal", "command", "peers", "profile"] as const;
export type Part = (typeof PARTS)[number];

const OPTIONS = {
  seconds: whole("N", "seconds of each side in each round", { min: 1, max: 60 }, 2),
  rounds: whole("N", "rounds; results are written from 5 on", { min: 1, max: 50 }, 5),
  root: text("DIR", "take the product from another checkout", OWN_ROOT, assertCheckout),
};

export const BENCH_USAGE = [
  usageText("npm run bench -- [PART]", "measures the product against the platform and against other limiters", OPTIONS),
  "",
  `PART is ${PARTS.join(", ")}, or names of sides: ${SIDES.map(({ id }) => id).join(", ")}`,
  "profile SIDE… prints where the time of these sides' Workers goes",
].join("\n");

export interface BenchSettings extends OptionValues<typeof OPTIONS> {
  readonly parts: readonly string[];
}

/** @throws Error with one line for people */
export function readBenchSettings(argv: readonly string[]): BenchSettings | "help" {
  const first = argv.findIndex((arg) => arg.startsWith("-"));
  const parts = first < 0 ? argv : argv.slice(0, first);
  const values = readOptions(first < 0 ? [] : argv.slice(first), OPTIONS);
  if (values === "help") return "help";
  const known = new Set<string>([...PARTS, ...SIDES.map(({ id }) => id)]);
  const strange = parts.find((part) => !known.has(part));
  if (strange !== undefined) throw new Error(`there is no part ${strange}; known are ${[...known].join(", ")}`);
  return { ...values, root: path.resolve(values.root), parts: parts.length === 0 ? ["all"] : parts };
}

function assertCheckout(given: string): void {
  if (!existsSync(path.join(given, "src/index.ts")))
    throw new Error(`takes a checkout with src/index.ts, not ${given}`);
}
