import type { FieldFault } from "../problem.ts";
import type { FlowConfig } from "./flow-control.ts";
import { LIMIT_DEFAULTS, type LimitAlgorithm, type LimitConfig } from "./limit.ts";
import type { WriteRate } from "./write-rate.ts";

/**
 * The engine's limits as an operator sets them: by variables for a deployment, by a change while it runs. Both go
 * through the same check; a change is taken whole or refused whole.
 */

export interface FlowSettings {
  /** Commands that may be queued. */
  readonly bound: number;
  /** Their bodies together, in bytes. */
  readonly boundBytes: number;
  /** How long a caller may wait for room, in milliseconds. */
  readonly enqueueWaitMs: number;
  /** What limits the commands in flight; "none": nothing does. */
  readonly algorithm: LimitAlgorithm | "none";
  /** Whether samples are gathered over a second each. */
  readonly windowed: boolean;
  /** The algorithm's parameters, all of them. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Null: writes are not limited. */
  readonly writeRate: WriteRate | null;
}

/** A change: absent members stay. `parameters` are merged; with another algorithm, over that one's defaults. */
export type FlowChange = { readonly [K in keyof FlowSettings]?: FlowSettings[K] };

export type FlowChecked =
  | { readonly ok: true; readonly settings: FlowSettings }
  | { readonly ok: false; readonly faults: readonly FieldFault[] };

export const ALGORITHMS: ReadonlyArray<LimitAlgorithm | "none"> = [
  "none",
  "fixed",
  "aimd",
  "vegas",
  "gradient",
  "gradient2",
];

/** A limit beyond this is no limit. */
const LIMIT_MAX = 1_000_000;

type Rule = { readonly says: string; readonly holds: (value: unknown) => boolean };

const whole = (min: number, max: number): Rule => ({
  says: `must be a whole number from ${min} to ${max}`,
  holds: (value) => typeof value === "number" && Number.isInteger(value) && value >= min && value <= max,
});
const between = (over: number, upTo: number, open: boolean): Rule => ({
  says: `must be a number over ${over} and ${open ? "under" : "up to"} ${upTo}`,
  holds: (value) => typeof value === "number" && value > over && (open ? value < upTo : value <= upTo),
});
const orNull = (rule: Rule): Rule => ({
  says: `${rule.says}, or null`,
  holds: (value) => value === null || rule.holds(value),
});
const size: Rule = {
  says: 'must be a number from 1, or {times, of: "log10" | "sqrt", min?}',
  holds: (value) =>
    typeof value === "object" && value !== null
      ? Object.keys(value).every((key) => ["times", "of", "min"].includes(key)) &&
        "times" in value &&
        between(0, LIMIT_MAX, false).holds(value.times) &&
        "of" in value &&
        (value.of === "log10" || value.of === "sqrt") &&
        (!("min" in value) || between(0, LIMIT_MAX, false).holds(value.min))
      : typeof value === "number" && value >= 1 && value <= LIMIT_MAX,
};

const LIMIT = whole(1, LIMIT_MAX);
const RULES: Readonly<Record<string, Rule>> = {
  limit: LIMIT,
  initialLimit: LIMIT,
  minLimit: LIMIT,
  maxLimit: LIMIT,
  backoffRatio: between(0, 1, true),
  requestTimeoutMs: whole(1, 3_600_000),
  smoothing: between(0, 1, false),
  rttTolerance: between(0, 100, false),
  longWindow: whole(1, LIMIT_MAX),
  probeMultiplier: orNull(whole(1, LIMIT_MAX)),
  probeInterval: orNull(whole(1, LIMIT_MAX)),
  alpha: size,
  beta: size,
  queueSize: size,
};

/** The settings after a change, or what is wrong with it, field by field. */
export function changeFlow(base: FlowSettings, change: FlowChange): FlowChecked {
  const { parameters: given = {}, ...rest } = change;
  const algorithm = change.algorithm ?? base.algorithm;
  const known: Readonly<Record<string, unknown>> = algorithm === "none" ? {} : { ...LIMIT_DEFAULTS[algorithm] };
  const parameters = { ...known, ...(algorithm === base.algorithm ? base.parameters : {}), ...given };
  const faults = [
    ...Object.entries(given).flatMap(([name, value]) => parameterFault(algorithm, known, name, value)),
    ...orderFaults(parameters),
  ];
  return faults.length > 0 ? { ok: false, faults } : { ok: true, settings: { ...base, ...rest, parameters } };
}

function parameterFault(
  algorithm: string,
  known: Readonly<Record<string, unknown>>,
  name: string,
  value: unknown,
): FieldFault[] {
  const path = `parameters.${name}`;
  const rule = RULES[name];
  if (!Object.hasOwn(known, name) || rule === undefined) {
    const names = Object.keys(known).join(", ") || "none";
    return [{ path, message: `${algorithm} has no such parameter; it has ${names}` }];
  }
  return rule.holds(value) ? [] : [{ path, message: rule.says }];
}

function orderFaults({ minLimit, initialLimit, maxLimit }: Readonly<Record<string, unknown>>): FieldFault[] {
  const ordered = [minLimit, initialLimit, maxLimit].filter((value) => typeof value === "number");
  const sorted = ordered.every((value, n) => n === 0 || (ordered[n - 1] ?? 0) <= value);
  const message = "must not be under minLimit or over maxLimit";
  return sorted ? [] : [{ path: "parameters.initialLimit", message }];
}

/** What the engine goes by. The settings must have come out of {@link changeFlow}. */
export function flowConfigOf({ algorithm, windowed, parameters, writeRate }: FlowSettings): FlowConfig {
  if (algorithm === "none") return { limit: null, writeRate };
  // Each name and value was checked against the algorithm's own defaults and rules.
  return { limit: { algorithm, windowed, params: parameters } as unknown as LimitConfig, writeRate };
}
