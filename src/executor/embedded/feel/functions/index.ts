/** The built-in functions that expressions may call. Regular expressions are not among them: their time has no bound. */

import { CONTEXT_FUNCTIONS } from "./contexts.ts";
import { type Builtin, builtinOf } from "./form.ts";
import { LIST_FUNCTIONS } from "./lists.ts";
import { NUMBER_FUNCTIONS } from "./numbers.ts";
import { RANGE_FUNCTIONS } from "./ranges.ts";
import { STATISTICS_FUNCTIONS } from "./statistics.ts";
import { TEMPORAL_FUNCTIONS } from "./temporal.ts";
import { TEXT_FUNCTIONS } from "./texts.ts";

export type { Builtin } from "./form.ts";

const ALL = {
  ...CONTEXT_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...RANGE_FUNCTIONS,
  ...STATISTICS_FUNCTIONS,
  ...TEMPORAL_FUNCTIONS,
  ...TEXT_FUNCTIONS,
};

/** By their names. */
export const FUNCTIONS: ReadonlyMap<string, Builtin> = new Map(
  Object.entries(ALL).map(([name, forms]) => [name, builtinOf(forms)]),
);

/** FEEL has them, and they run regular expressions. */
export const REGULAR_FUNCTIONS: ReadonlySet<string> = new Set(["matches", "replace", "split"]);
