/**
 * Text → an expression to be evaluated, with bounds on what the parser is given. An expression that was parsed is kept
 * while there is room: those of the models that run now.
 */

import { parseExpression } from "feelin";
import type { Expr } from "./ast.ts";
import { toExpr } from "./syntax.ts";
import { type Node, Refused } from "./tree.ts";

/** Enough for half a page of text. The parser's time grows with the square of it: 20 ms for this many characters. */
const FEEL_LENGTH_MAX = 1_000;
/** Brackets in brackets. The evaluator recurses, and errors that are deep inside cost the parser most. */
const NESTING_MAX = 32;
/** With names in backticks. */
const DIALECT = "camunda";
/** Parsed expressions kept in memory. */
const KEPT_MAX = 1_000;
/** Of an expression that cannot be read, to find the place. */
const SHOWN_LENGTH_MAX = 20;

export type Parsed = { readonly ok: true; readonly expr: Expr } | { readonly ok: false; readonly message: string };

const kept = new Map<string, Parsed>();

/**
 * @param feel an expression, without its leading `=`
 * @returns it, or what is wrong with it. Never throws
 */
export function parse(feel: string): Parsed {
  const known = kept.get(feel);
  if (known !== undefined) return known;
  const parsed = parseAnew(feel);
  // Everything goes at once: a queue of ages would cost more than it saves.
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(feel, parsed);
  return parsed;
}

/** Whether an expression need not be parsed again. */
export function isKept(feel: string): boolean {
  return kept.has(feel);
}

/** What it takes to parse an expression, in steps. Errors deep in brackets are what takes longest. */
export function parseSteps(feel: string): number {
  const length = Math.min(feel.length, FEEL_LENGTH_MAX);
  return (20_000 + 500 * length + length ** 2) * (1 + nestingOf(feel.slice(0, length)) / 4);
}

function parseAnew(feel: string): Parsed {
  if (feel.length > FEEL_LENGTH_MAX) return { ok: false, message: `longer than ${FEEL_LENGTH_MAX} characters` };
  if (nestingOf(feel) > NESTING_MAX) return { ok: false, message: `nests deeper than ${NESTING_MAX}` };
  try {
    const root = parseExpression(feel, {}, DIALECT).topNode;
    const problem = syntaxProblem(feel, root);
    return problem === null ? { ok: true, expr: toExpr(feel, root) } : { ok: false, message: problem };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, message: error.message };
    return { ok: false, message: error instanceof RangeError ? "nests too deeply" : "cannot be parsed" };
  }
}

/** At most: brackets in texts count too. */
function nestingOf(feel: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of feel) {
    if ("([{".includes(character)) deepest = Math.max(deepest, ++depth);
    else if (")]}".includes(character)) depth = Math.max(0, depth - 1);
  }
  return deepest;
}

/** Where the first error of the tree is. The tree itself has no words for it. */
function syntaxProblem(feel: string, root: Node): string | null {
  let from: number | null = null;
  root.cursor().iterate((node) => {
    if (node.type.isError) from ??= node.from;
  });
  if (from === null) return null;
  const rest = feel.slice(from, from + SHOWN_LENGTH_MAX).trim();
  return rest === "" ? "it breaks off at its end" : `it cannot be read at "${rest}" (character ${from + 1})`;
}
