/** An expression as it is evaluated: what syntax.ts makes of the parser's tree. */

import type { Operator } from "./arithmetic.ts";
import type { Comparison } from "./compare.ts";
import type { Builtin } from "./functions/index.ts";
import type { Meter } from "./meter.ts";
import type { Context, Value } from "./values.ts";

/** `i in list`, or `i in low..high`. */
export interface Loop {
  readonly name: string;
  readonly from: Expr;
  readonly to: Expr | null;
}

/** One of the tests behind `in`. */
export interface Test {
  readonly expr: Expr;
  /** It names `?`, the value that is tested: then its own truth counts. */
  readonly asks: boolean;
}

/** A type behind `instance of`. */
export type TypeName =
  | { readonly name: string }
  | { readonly listOf: TypeName }
  | { readonly members: readonly (readonly [string, TypeName])[] };

export type Expr =
  | { readonly kind: "literal"; readonly value: Value }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "temporal"; readonly text: string }
  | { readonly kind: "path"; readonly target: Expr; readonly name: string }
  /** `isTest`: it is true or false of each member, and cannot be a position. */
  | { readonly kind: "filter"; readonly target: Expr; readonly by: Expr; readonly isTest: boolean }
  | { readonly kind: "arithmetic"; readonly operator: Operator; readonly left: Expr; readonly right: Expr }
  | { readonly kind: "negation"; readonly of: Expr }
  | { readonly kind: "comparison"; readonly operator: Comparison; readonly left: Expr; readonly right: Expr }
  | { readonly kind: "between"; readonly value: Expr; readonly low: Expr; readonly high: Expr }
  | { readonly kind: "in"; readonly value: Expr; readonly tests: readonly Test[] }
  /** `> 5`, to be asked of a value. */
  | { readonly kind: "unary"; readonly operator: Comparison; readonly right: Expr }
  | { readonly kind: "and" | "or"; readonly left: Expr; readonly right: Expr }
  | { readonly kind: "if"; readonly condition: Expr; readonly yes: Expr; readonly no: Expr }
  | { readonly kind: "for"; readonly loops: readonly Loop[]; readonly body: Expr }
  | { readonly kind: "some" | "every"; readonly loops: readonly Loop[]; readonly body: Expr }
  | { readonly kind: "list"; readonly items: readonly Expr[] }
  | { readonly kind: "context"; readonly entries: readonly (readonly [string, Expr])[] }
  | {
      readonly kind: "range";
      readonly low: Expr;
      readonly high: Expr;
      readonly lowIncluded: boolean;
      readonly highIncluded: boolean;
    }
  | { readonly kind: "call"; readonly name: string; readonly builtin: Builtin; readonly given: readonly Expr[] }
  | {
      readonly kind: "named-call";
      readonly name: string;
      readonly builtin: Builtin;
      readonly given: readonly (readonly [string, Expr])[];
    }
  | { readonly kind: "instance-of"; readonly value: Expr; readonly type: TypeName };

export type Of<K extends Expr["kind"]> = Expr & { readonly kind: K };

/** What names mean: the innermost that has one counts. One name, or the members of a context. */
export type Scope = (
  | { readonly name: string; readonly value: Value }
  | { readonly name: null; readonly names: Context }
) & { readonly outer: Scope | null };

/** Evaluates a part. */
export type Evaluate = (expr: Expr, scope: Scope, meter: Meter) => Value;
