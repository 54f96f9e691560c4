/**
 * The parser's tree → the expression that is evaluated. What the evaluator does not take is refused here, by name:
 * functions of one's own, and built-in functions that it does not have.
 *
 * Contract: parsed without any variables, so that no name of a variable changes what an expression means.
 */

import type { Operator } from "./arithmetic.ts";
import type { Expr, Loop, Test } from "./ast.ts";
import type { Comparison } from "./compare.ts";
import { type Builtin, FUNCTIONS, REGULAR_FUNCTIONS } from "./functions/index.ts";
import { childrenOf, isTestKind, type Node, nameOf, numberAt, Refused, textAt, writtenAt } from "./tree.ts";
import { typeOf } from "./types.ts";

type Maker = (feel: string, parts: readonly Node[], node: Node) => Expr;

/** @throws {Refused} for what is not taken */
export function toExpr(feel: string, node: Node): Expr {
  const maker = MAKERS[node.name];
  if (maker === undefined) throw new Refused(`"${writtenAt(feel, node)}" is not supported`);
  return maker(feel, childrenOf(node), node);
}

const MAKERS: Readonly<Record<string, Maker>> = {
  Expression: (feel, [only]) => sub(feel, only),
  ParenthesizedExpression: (feel, [, inner]) => sub(feel, inner),
  PositiveUnaryTest: (feel, [only]) => sub(feel, only),
  SimplePositiveUnaryTest: (feel, [first, second]) =>
    second === undefined
      ? sub(feel, first)
      : { kind: "unary", operator: comparisonAt(feel, first), right: sub(feel, second) },
  null: () => ({ kind: "literal", value: null }),
  NumericLiteral: (feel, _parts, node) => ({ kind: "literal", value: numberAt(feel, node) }),
  BooleanLiteral: (feel, _parts, node) => ({ kind: "literal", value: writtenAt(feel, node) === "true" }),
  StringLiteral: (feel, _parts, node) => ({ kind: "literal", value: textAt(feel, node) }),
  VariableName: variable,
  "?": () => ({ kind: "variable", name: "?" }),
  DateTimeLiteral: (feel, parts, node) =>
    parts[0]?.name === "AtLiteral" ? sub(feel, parts[0]) : invocation(feel, parts, node),
  AtLiteral: (feel, [text]) => ({ kind: "temporal", text: text === undefined ? "" : textAt(feel, text) }),
  FunctionInvocation: invocation,
  ArithmeticExpression: arithmetic,
  Comparison: comparison,
  Conjunction: (feel, [left, , right]) => ({ kind: "and", left: sub(feel, left), right: sub(feel, right) }),
  Disjunction: (feel, [left, , right]) => ({ kind: "or", left: sub(feel, left), right: sub(feel, right) }),
  IfExpression: (feel, [, condition, , yes, , no]) => ({
    kind: "if",
    condition: sub(feel, condition),
    yes: sub(feel, yes),
    no: sub(feel, no),
  }),
  ForExpression: (feel, parts) => ({ kind: "for", loops: loopsAt(feel, parts[1]), body: sub(feel, parts.at(-1)) }),
  QuantifiedExpression: (feel, parts) => ({
    kind: parts[0]?.name === "every" ? "every" : "some",
    loops: loopsAt(feel, parts[1]),
    body: sub(feel, parts.at(-1)),
  }),
  List: (feel, parts) => ({ kind: "list", items: parts.slice(1, -1).map((item) => toExpr(feel, item)) }),
  Context: (feel, parts) => ({ kind: "context", entries: parts.slice(1, -1).map((entry) => entryAt(feel, entry)) }),
  Interval: (feel, [open, low, , high, close]) => ({
    kind: "range",
    low: sub(feel, low),
    high: sub(feel, high),
    lowIncluded: open?.name === "[",
    highIncluded: close?.name === "]",
  }),
  PathExpression: (feel, [target, , name]) => ({
    kind: "path",
    target: sub(feel, target),
    name: name === undefined ? "" : nameOf(feel, name),
  }),
  FilterExpression: (feel, [target, , by]) => ({
    kind: "filter",
    target: sub(feel, target),
    by: sub(feel, by),
    isTest: by !== undefined && isTestKind(by),
  }),
  InstanceOfExpression: (feel, parts) => {
    const type = parts.at(-1);
    if (type === undefined) throw new Refused("a type is missing");
    return { kind: "instance-of", value: sub(feel, parts[0]), type: typeOf(feel, type) };
  },
  FunctionDefinition: () => {
    throw new Refused("functions of one's own are not supported");
  },
};

function sub(feel: string, node: Node | undefined): Expr {
  if (node === undefined) throw new Refused("a part of it is missing");
  return toExpr(feel, node);
}

function variable(feel: string, _parts: readonly Node[], node: Node): Expr {
  const name = nameOf(feel, node);
  if (name === "partial") throw new Refused('"partial" is not supported');
  return { kind: "variable", name };
}

function arithmetic(feel: string, parts: readonly Node[]): Expr {
  const [first, second, third] = parts;
  if (third === undefined) return { kind: "negation", of: sub(feel, second) };
  const written = second === undefined ? "" : writtenAt(feel, second);
  const operator = OPERATORS.find((each) => each === (written === "^" ? "**" : written));
  if (operator === undefined) throw new Refused(`"${written}" is not supported`);
  return { kind: "arithmetic", operator, left: sub(feel, first), right: sub(feel, third) };
}

const OPERATORS: readonly Operator[] = ["+", "-", "*", "/", "**"];
const COMPARISONS: readonly Comparison[] = ["=", "!=", "<", "<=", ">", ">="];

function comparisonAt(feel: string, node: Node | undefined): Comparison {
  const written = node === undefined ? "" : writtenAt(feel, node);
  const operator = COMPARISONS.find((each) => each === written);
  if (operator === undefined) throw new Refused(`"${written}" is not supported`);
  return operator;
}

function comparison(feel: string, parts: readonly Node[]): Expr {
  const [first, how, second, , fourth] = parts;
  if (how?.name === "between") {
    return { kind: "between", value: sub(feel, first), low: sub(feel, second), high: sub(feel, fourth) };
  }
  if (how?.name !== "in") {
    return { kind: "comparison", operator: comparisonAt(feel, how), left: sub(feel, first), right: sub(feel, second) };
  }
  const listed = parts.find(({ name }) => name === "PositiveUnaryTests");
  const tests = listed === undefined ? parts.slice(-1) : childrenOf(listed);
  return { kind: "in", value: sub(feel, first), tests: tests.map((test) => testAt(feel, test)) };
}

function testAt(feel: string, node: Node): Test {
  let asks = false;
  node.cursor().iterate(({ name }) => {
    asks ||= name === "?";
  });
  return { expr: toExpr(feel, node), asks };
}

function loopsAt(feel: string, node: Node | undefined): Loop[] {
  return childrenOf(node).map((loop): Loop => {
    const [name, , over] = childrenOf(loop);
    const [from, , to] = childrenOf(over);
    if (name === undefined) throw new Refused("a loop has no name");
    return { name: nameOf(feel, name), from: sub(feel, from), to: to === undefined ? null : sub(feel, to) };
  });
}

function entryAt(feel: string, entry: Node): readonly [string, Expr] {
  const [key, value] = childrenOf(entry);
  const [written] = childrenOf(key);
  if (written === undefined) throw new Refused("an entry has no name");
  const name = written.name === "StringLiteral" ? textAt(feel, written) : nameOf(feel, written);
  return [name, sub(feel, value)];
}

function invocation(feel: string, parts: readonly Node[], _node: Node): Expr {
  const [target] = parts;
  const { name, builtin } = builtinAt(feel, target);
  const parameters = parts.find((part) => /Parameters$/.test(part.name));
  if (parameters?.name !== "NamedParameters") {
    return { kind: "call", name, builtin, given: childrenOf(parameters).map((each) => toExpr(feel, each)) };
  }
  const given = childrenOf(parameters).map((parameter): readonly [string, Expr] => {
    const [called, value] = childrenOf(parameter);
    if (called === undefined) throw new Refused("a parameter has no name");
    return [nameOf(feel, called), sub(feel, value)];
  });
  return { kind: "named-call", name, builtin, given };
}

function builtinAt(feel: string, target: Node | undefined): { readonly name: string; readonly builtin: Builtin } {
  const isNamed =
    target !== undefined && ["VariableName", "SpecialFunctionName", "DateTimeConstructor"].includes(target.name);
  const name = isNamed ? nameOf(feel, target) : "";
  if (REGULAR_FUNCTIONS.has(name)) {
    throw new Refused(`the function "${name}" is not supported: it has no bound on its time`);
  }
  const builtin = FUNCTIONS.get(name);
  if (builtin === undefined) {
    throw new Refused(`there is no function "${target === undefined ? "" : writtenAt(feel, target).slice(0, 100)}"`);
  }
  return { name, builtin };
}
