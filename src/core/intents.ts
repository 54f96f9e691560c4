/**
 * What a command wants, and which wants must never be refused.
 *
 * A critical intent relieves the engine (it ends work, repairs it, or makes it possible at all), so that
 * refusing it would make an overload worse. Layers 1 to 3 let it through.
 */

export const INTENTS = [
  "DEPLOYMENT:CREATE",
  "PROCESS_INSTANCE:CREATE",
  "PROCESS_INSTANCE:CANCEL",
  "JOB:ACTIVATE",
  "JOB:COMPLETE",
  "JOB:FAIL",
  "JOB:THROW_ERROR",
  "JOB:UPDATE",
  "INCIDENT:RESOLVE",
] as const;

export type Intent = (typeof INTENTS)[number];

const CRITICAL: ReadonlySet<Intent> = new Set<Intent>([
  "DEPLOYMENT:CREATE",
  "PROCESS_INSTANCE:CANCEL",
  "JOB:COMPLETE",
  "JOB:FAIL",
  "JOB:THROW_ERROR",
  "JOB:UPDATE",
  "INCIDENT:RESOLVE",
]);

/** True when layers 1 to 3 must not refuse this intent. */
export function isCritical(intent: Intent): boolean {
  return CRITICAL.has(intent);
}
