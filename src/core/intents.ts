/**
 * What a command wants, and which wants must never be refused.
 *
 * A critical intent relieves the engine (it ends work, repairs it, or makes it possible at all), so that
 * refusing it would make an overload worse. Layers 1 to 3 let it through.
 */

/** What the embedded engine understands. A deployment with an upstream may declare others. */
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

const CRITICAL: ReadonlySet<string> = new Set<Intent>([
  "DEPLOYMENT:CREATE",
  "PROCESS_INSTANCE:CANCEL",
  "JOB:COMPLETE",
  "JOB:FAIL",
  "JOB:THROW_ERROR",
  "JOB:UPDATE",
  "INCIDENT:RESOLVE",
]);

/** `NOUN:VERB`, in capitals: what an intent of a deployment's own must look like. */
export const INTENT_FORM = /^[A-Z][A-Z0-9_]{0,63}:[A-Z][A-Z0-9_]{0,63}$/;

/** The intents that a deployment takes, and which of them layers 1 to 3 must not refuse. */
export type IntentTable = ReadonlyMap<string, { readonly critical: boolean }>;

/** @param declared intents of the deployment's own, and changes to ours */
export function intentTable(declared: IntentTable = new Map()): IntentTable {
  return new Map([...INTENTS.map((intent) => [intent, { critical: CRITICAL.has(intent) }] as const), ...declared]);
}

/** True when layers 1 to 3 must not refuse this intent. One that is not in the table (any more) may be refused. */
export function isCritical(table: IntentTable, intent: string): boolean {
  return table.get(intent)?.critical ?? false;
}
