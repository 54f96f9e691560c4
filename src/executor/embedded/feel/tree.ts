/** Reading the parser's tree: its nodes, and what is written at them. */

import type { parseExpression } from "feelin";
import { type Decimal, DIGITS_MAX, parseDecimal } from "./numbers.ts";

export type Node = ReturnType<typeof parseExpression>["topNode"];

/** An expression that the evaluator does not take. */
export class Refused extends Error {}

/** Without comments. */
export function childrenOf(node: Node | undefined): Node[] {
  const children: Node[] = [];
  for (let child = node?.firstChild ?? null; child !== null; child = child.nextSibling) {
    if (!child.type.isSkipped && !/Comment$/.test(child.name)) children.push(child);
  }
  return children;
}

export function writtenAt(feel: string, node: Node): string {
  return feel.slice(node.from, node.to);
}

/** Words with one space between them, without backticks. */
export function nameOf(feel: string, node: Node): string {
  return writtenAt(feel, node).replace(/`/g, "").replace(/\s+/g, " ").trim();
}

export function numberAt(feel: string, node: Node): Decimal | number {
  const written = writtenAt(feel, node).replace(/\s/g, "");
  const decimal = parseDecimal(written);
  if (decimal === null) throw new Refused(`the number ${written.slice(0, 50)} has more than ${DIGITS_MAX} digits`);
  const double = decimal.toNumber();
  return Number.isSafeInteger(double) && decimal.equals(double) ? double + 0 : decimal;
}

const ESCAPE = /\\(?:(["\\'])|(n)|(r)|(t)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{6}))/g;

/** A text between quotes, with its escapes read. */
export function textAt(feel: string, node: Node): string {
  return writtenAt(feel, node)
    .replace(/^"|"$/g, "")
    .replace(ESCAPE, (whole, itself, n, r, t, unit, point) => {
      if (itself !== undefined) return itself;
      if (n !== undefined) return "\n";
      if (r !== undefined) return "\r";
      if (t !== undefined) return "\t";
      const code = Number.parseInt(unit ?? point, 16);
      if (unit !== undefined) return String.fromCharCode(code);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    });
}

/** Parts that are true or false of what they are asked of: no position in a list is written so. */
export function isTestKind(node: Node): boolean {
  if (node.name === "ParenthesizedExpression") {
    const inner = childrenOf(node)[1];
    return inner !== undefined && isTestKind(inner);
  }
  return TESTS.has(node.name);
}

const TESTS = new Set(
  "Comparison,Conjunction,Disjunction,QuantifiedExpression,InstanceOfExpression,SimplePositiveUnaryTest".split(","),
);
