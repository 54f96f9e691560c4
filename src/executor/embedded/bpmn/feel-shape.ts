/**
 * What an expression looks like before it is evaluated: its syntax, the variables it names, and how its work grows with
 * the size of them. The evaluator cannot be interrupted, and one engine serves all tenants: so what could run for ever
 * (functions of one's own, regular expressions, ranges without written ends in a loop) is refused here, and the
 * rest has a bound that can be told from its shape.
 *
 * Contract: parsed without any variables, so that no name of a variable changes what an expression means.
 */

import { parseExpression } from "feelin";

/** Enough for half a page of text. The parser's time grows with the square of it: 20 ms for this many characters. */
const FEEL_LENGTH_MAX = 1_000;
/** Brackets in brackets. The evaluator recurses, and errors that are deep inside cost the parser most. */
const NESTING_MAX = 32;
/** With names in backticks. */
export const DIALECT = "camunda";

export interface Shape {
  /** Variables that it may look at. */
  readonly names: readonly string[];
  /** Evaluating takes at most about `factor` × size^`exponent` steps, where size is that of the variables named. */
  readonly exponent: number;
  readonly factor: number;
  /** Belongs to the size: the expression's own length, and what ranges in it run over. */
  readonly ownSize: number;
  /** Uses of dates and times, each of which takes {@link TEMPORAL_STEPS}. */
  readonly temporal: number;
}

export type Analysed = { readonly ok: true; readonly shape: Shape } | { readonly ok: false; readonly message: string };

type Node = ReturnType<typeof parseExpression>["topNode"];

/** Built-in functions whose work is linear in what they are given. */
const LINEAR = new Set(
  `abs,after,all,any,append,before,ceiling,coincides,concatenate,contains,context,context merge,context put,count,date,
  date and time,day of week,day of year,decimal,duration,during,ends with,even,exp,finished by,finishes,flatten,floor,
  get entries,get value,includes,index of,insert before,is,list contains,log,lower case,max,mean,median,meets,met by,min,
  modulo,month of year,not,now,number,odd,overlaps,overlaps after,overlaps before,product,remove,reverse,round down,
  round half down,round half up,round up,sqrt,started by,starts,starts with,stddev,string,string length,sublist,substring,
  substring after,substring before,sum,time,today,upper case,week of year,years and months duration`.split(/,\s*/),
);
/** Those that compare each with each, or whose result is as large as the product of what they are given. */
const QUADRATIC = new Set(["distinct values", "list replace", "mode", "sort", "string join", "union"]);
/** Dates and times: read from text, written as text, taken from the clock. */
const TEMPORAL = new Set(
  `@,context put,date,date and time,day of week,day of year,duration,month of year,now,string,time,today,week of year,
  years and months duration`.split(/,\s*/),
);
/** What one of these takes, in steps: some 120 µs. */
export const TEMPORAL_STEPS = 12_000;
/** A step of theirs compares values of any kind, at some ten times the cost of the others'. */
const QUADRATIC_FACTOR = 10;
/** They run regular expressions, whose time has no bound. */
const REGULAR = new Set(["matches", "replace", "split"]);

/** To be hidden from expressions, which could hand them on under another name. */
export const HIDDEN_FUNCTIONS: readonly string[] = [...REGULAR];

class Refused extends Error {}

/**
 * @param feel an expression, without its leading `=`
 * @returns its shape, or what is wrong with it. Never throws
 */
export function analyse(feel: string): Analysed {
  if (feel.length > FEEL_LENGTH_MAX) return { ok: false, message: `longer than ${FEEL_LENGTH_MAX} characters` };
  if (nestingOf(feel) > NESTING_MAX) return { ok: false, message: `nests deeper than ${NESTING_MAX}` };
  try {
    const tree = parseExpression(feel, {}, DIALECT);
    const problem = syntaxProblem(feel, tree.topNode);
    return problem === null ? { ok: true, shape: shapeOf(feel, tree.topNode) } : { ok: false, message: problem };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, message: error.message };
    return { ok: false, message: error instanceof RangeError ? "nests too deeply" : "cannot be parsed" };
  }
}

/** What it takes to parse an expression, in steps of about 10 ns. Errors deep in brackets are what takes longest. */
export function parseSteps(feel: string): number {
  return (20_000 + 500 * feel.length + feel.length ** 2) * (1 + nestingOf(feel) / 4);
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

/** Where the first error of the tree is. Asking the evaluator for its words would parse once more. */
function syntaxProblem(feel: string, root: Node): string | null {
  let from: number | null = null;
  root.cursor().iterate((node) => {
    if (node.type.isError) from ??= node.from;
  });
  if (from === null) return null;
  const rest = feel.slice(from, from + SHOWN_LENGTH_MAX).trim();
  return rest === "" ? "it breaks off at its end" : `it cannot be read at "${rest}" (character ${from + 1})`;
}

/** Of an expression that cannot be read, to find the place. */
const SHOWN_LENGTH_MAX = 20;

function shapeOf(feel: string, root: Node): Shape {
  const facts = gather(feel, root);
  if (facts.loops && facts.hasOpenRange) {
    throw new Refused("a range beside a loop must have its ends written as whole numbers");
  }
  if (facts.loops && facts.names.includes("partial")) throw new Refused('"partial" is not supported');
  return {
    names: [...new Set(facts.names)],
    exponent: 1 + exponentOf(feel, root) + facts.reuses,
    factor: (facts.names.length + 1) * (facts.isQuadratic ? QUADRATIC_FACTOR : 1),
    ownSize: facts.literalSize + (facts.loops ? facts.rangeSize : 0),
    temporal: facts.temporal,
  };
}

interface Facts {
  readonly names: string[];
  /** Uses of an entry of a context in a later one. Each can double what it names. */
  reuses: number;
  literalSize: number;
  isQuadratic: boolean;
  temporal: number;
  loops: boolean;
  hasOpenRange: boolean;
  rangeSize: number;
}

function gather(feel: string, root: Node): Facts {
  const facts: Facts = {
    names: [],
    reuses: 0,
    literalSize: 0,
    isQuadratic: false,
    temporal: 0,
    loops: false,
    hasOpenRange: false,
    rangeSize: 0,
  };
  root.cursor().iterate(({ name, node }) => {
    if (name === "VariableName") facts.names.push(nameOf(feel, node));
    if (/^(VariableName|.*Literal)$/.test(name)) facts.literalSize += 1 + (node.to - node.from) / 16;
    if (name === "Context") facts.reuses += reusesIn(feel, node);
    else if (name === "ForExpression" || name === "QuantifiedExpression") facts.loops = true;
    else if (name === "FunctionDefinition") throw new Refused("functions of one's own are not supported");
    else if (name === "FunctionInvocation" || name === "DateTimeLiteral") {
      const called = checkedFunction(feel, node);
      facts.isQuadratic ||= QUADRATIC.has(called);
      if (TEMPORAL.has(called)) facts.temporal += 1;
    } else if (name === "Interval" || (name === "IterationContext" && childrenOf(node).length > 1)) {
      const size = rangeSizeOf(feel, node);
      if (size === null) facts.hasOpenRange = true;
      else facts.rangeSize += size;
    }
  });
  return facts;
}

/** How many values a range runs over; null when that is not written. */
function rangeSizeOf(feel: string, node: Node): number | null {
  const ends = childrenOf(node).filter(({ name }) => !/^[[\]().]*$/.test(name) && name !== "..");
  if (ends.length !== 2) return null;
  // Only numbers and single letters can be run over.
  if (ends.every(({ name }) => name === "StringLiteral" || name === "DateTimeLiteral")) return 52;
  const [from = Number.NaN, to = Number.NaN] = ends.map((end) =>
    end.name === "NumericLiteral" ? Number(feel.slice(end.from, end.to).replace(/\s/g, "")) : Number.NaN,
  );
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) ? Math.abs(to - from) + 1 : null;
}

/** How often entries name earlier ones of the same context. */
function reusesIn(feel: string, context: Node): number {
  const keys = new Set<string>();
  let reuses = 0;
  for (const entry of childrenOf(context).filter(({ name }) => name === "ContextEntry")) {
    entry.cursor().iterate(({ name, node }) => {
      if (name === "VariableName" && keys.has(nameOf(feel, node))) reuses++;
    });
    const [key] = childrenOf(entry);
    if (key !== undefined) keys.add(nameOf(feel, key).replace(/^"|"$/g, ""));
  }
  return reuses;
}

/** The name of a built-in function that may be called. */
function checkedFunction(feel: string, node: Node): string {
  const target = node.firstChild;
  if (target === null || target.name === "AtLiteral") return "@";
  const isNamed = ["VariableName", "SpecialFunctionName", "DateTimeConstructor"].includes(target.name);
  const name = isNamed ? nameOf(feel, target) : "";
  if (REGULAR.has(name)) throw new Refused(`the function "${name}" is not supported: it has no bound on its time`);
  if (!LINEAR.has(name) && !QUADRATIC.has(name)) {
    throw new Refused(`there is no function "${feel.slice(target.from, target.to).slice(0, 100)}"`);
  }
  return name;
}

/** The power of the size that bounds both the work of a part and the size of its value, less one. */
function exponentOf(feel: string, node: Node): number {
  const parts = childrenOf(node);
  const of = (part: Node | undefined) => (part === undefined ? 0 : exponentOf(feel, part));
  switch (node.name) {
    case "ForExpression":
    case "QuantifiedExpression": {
      const domains = childrenOf(parts.find(({ name }) => name === "InExpressions") ?? node);
      const loops = domains.filter(({ name }) => name === "InExpression");
      return loops.reduce((total, loop) => total + 1 + of(loop), of(parts.at(-1)));
    }
    case "FilterExpression": {
      const [target, , predicate] = parts;
      return of(target) + (predicate?.name === "NumericLiteral" ? 0 : 1) + of(predicate);
    }
    case "FunctionInvocation": {
      const inner = Math.max(0, ...parts.map(of));
      return node.firstChild !== null && QUADRATIC.has(nameOf(feel, node.firstChild)) ? 1 + 2 * inner : inner;
    }
    default:
      return Math.max(0, ...parts.map(of));
  }
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

/** As the evaluator reads it: words with one space between them, without backticks. */
function nameOf(feel: string, node: Node): string {
  return feel.slice(node.from, node.to).replace(/`/g, "").replace(/\s+/g, " ").trim();
}
