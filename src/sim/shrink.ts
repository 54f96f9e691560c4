import { Broken } from "./broken.ts";
import type { Sabotage } from "./sabotage.ts";
import { type LoadSpec, NO_FLOW, PLAIN_LOAD, PLAIN_NETWORK, type WorldSpec } from "./spec.ts";
import { runWorld } from "./world.ts";

/**
 * Makes a world that breaks a promise smaller, as long as it still breaks the same one: fewer faults, fewer and shorter
 * loads, nothing that is not needed. What is left is short enough to be read.
 */

/** Worlds that are tried at the most: each is some milliseconds. */
const TRIES_MAX = 2_000;

export interface Failure {
  readonly spec: WorldSpec;
  readonly broken: Broken;
  /** What happened, line by line, up to the end. */
  readonly trace: readonly string[];
}

/**
 * Runs a world that is long enough for everything in it to end.
 *
 * @returns how it broke a promise; null: it kept all of them
 */
export function failureOf(spec: WorldSpec, sabotage: Sabotage | null = null): Failure | null {
  const trace: string[] = [];
  try {
    const { left } = runWorld(spec, { sabotage, trace: (line) => trace.push(line) });
    // Accepted, and neither ended nor on its way to it: as good as lost.
    return left === 0 ? null : { spec, broken: new Broken(3, `${left} commands never ended`), trace };
  } catch (error) {
    if (error instanceof Broken) return { spec, broken: error, trace };
    throw error;
  }
}

/** @returns the smallest world found that breaks the same promise, with its trace */
export function shrink(failure: Failure, sabotage: Sabotage | null = null): Failure {
  let smallest = failure;
  let tries = 0;
  for (let found = true; found && tries < TRIES_MAX; ) {
    found = false;
    for (const spec of smaller(smallest.spec)) {
      if (++tries > TRIES_MAX) break;
      const next = failureOf(spec, sabotage);
      if (next === null || next.broken.invariant !== failure.broken.invariant) continue;
      smallest = next;
      found = true;
      break;
    }
  }
  return smallest;
}

/** Worlds with a little less in them, the greatest steps first. */
function* smaller(spec: WorldSpec): Iterable<WorldSpec> {
  for (const faults of without(spec.faults)) yield { ...spec, faults };
  for (const loads of without(spec.loads)) if (loads.length > 0) yield { ...spec, loads };
  const { backend, engine } = spec;
  for (const troubles of without(backend.troubles)) yield { ...spec, backend: { ...backend, troubles } };
  if (spec.network !== PLAIN_NETWORK) yield { ...spec, network: PLAIN_NETWORK };
  const plainer: Partial<WorldSpec["engine"]>[] = [
    ...(engine.flow === NO_FLOW ? [] : [{ flow: NO_FLOW }]),
    ...(engine.overflow === "refuse" ? [] : [{ overflow: "refuse" as const }]),
    ...(engine.isolates === 0 ? [] : [{ isolates: 0 }]),
    ...(engine.quota === null ? [] : [{ quota: null }]),
    ...(engine.enqueueWaitMs === 0 ? [] : [{ enqueueWaitMs: 0 }]),
    ...(engine.concurrency === 1 ? [] : [{ concurrency: 1 }]),
  ];
  for (const part of plainer) yield { ...spec, engine: { ...engine, ...part } };
  if (backend.quota !== null) yield { ...spec, backend: { ...backend, quota: null } };
  if (backend.spread !== 0) yield { ...spec, backend: { ...backend, spread: 0 } };
  for (const [at, load] of spec.loads.entries()) {
    for (const less of smallerLoads(load)) yield { ...spec, loads: spec.loads.with(at, less) };
  }
  const used = new Set(spec.loads.flatMap(({ tenants }) => tenants));
  const tenants = spec.tenants.filter(({ name }) => used.has(name));
  if (tenants.length < spec.tenants.length) yield { ...spec, tenants };
}

function* smallerLoads(load: LoadSpec): Iterable<LoadSpec> {
  for (const phases of without(load.phases)) if (phases.length > 0) yield { ...load, phases };
  for (const tenants of without(load.tenants)) if (tenants.length > 0) yield { ...load, tenants };
  for (const [at, phase] of load.phases.entries()) {
    const seconds = Math.floor(phase.seconds / 2);
    if (seconds > 0) yield { ...load, phases: load.phases.with(at, { ...phase, seconds }) };
    const [from, to] = [Math.floor(phase.from / 2), Math.floor(phase.to / 2)];
    if (from + to < phase.from + phase.to) yield { ...load, phases: load.phases.with(at, { ...phase, from, to }) };
  }
  const plain: Partial<LoadSpec>[] = [
    { criticalPerMille: 0 },
    { hangUpPerMille: 0 },
    { cancelPerMille: 0 },
    { deadlineMs: null },
    { manners: "never", triesMax: 1 },
    { spacing: "even" },
    { keyed: false },
    { cost: PLAIN_LOAD.cost },
  ];
  for (const part of plain) {
    const next = { ...load, ...part };
    if (JSON.stringify(next) !== JSON.stringify(load)) yield next;
  }
}

/** The list without a half, a quarter, … and at last without each single one. */
function* without<T>(items: readonly T[]): Iterable<readonly T[]> {
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < items.length; from += size) yield [...items.slice(0, from), ...items.slice(from + size)];
  }
}
