import type { CommandError } from "../core/command.ts";
import { objectOf } from "../core/json.ts";
import type { QueueEntry } from "../core/queue.ts";
import type { TenantHoldings } from "../core/tenant-holdings.ts";
import type { WorkShares } from "../core/work-shares.ts";
import type { Outcome, TransactionalExecutor } from "../executor/port.ts";
import type { CommandStore } from "./command-store.ts";
import type { ReservedKeys } from "./engine-state.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Runs one command on an executor that shares the object's storage: effect and end in one transaction. A command that
 * trips over a bug of ours is tried again a few times and then set aside as a dead letter, so that it cannot hold up
 * the rest.
 */

/** A bug rarely goes away by itself; more tries would only hold up the others. */
const ATTEMPTS_MAX = 3;

export interface RunnerParts {
  readonly storage: DurableObjectStorage;
  readonly store: CommandStore;
  readonly ledger: Ledger;
  readonly keys: ReservedKeys;
  readonly embedded: TransactionalExecutor;
  readonly holdings: TenantHoldings;
  /** At whose expense timers go off. */
  readonly shares: WorkShares;
}

/** What became of a run: the command has ended, or it waits for another try. */
export type Run = "ended" | "again";

export function runCommand(parts: RunnerParts, entry: QueueEntry, nowMs: number): Run {
  const row = parts.store.get(entry.sequence);
  if (row === null) throw new Error(`queued command ${entry.sequence} has no row`);
  const times = { attempts: row.attempts + 1, startedAtMs: nowMs, finishedAtMs: nowMs };
  try {
    inTransaction(parts, () => {
      const command = { id: parts.keys.format(entry.sequence), tenant: row.tenant, intent: row.intent };
      const payload = objectOf(parts.store.payload(entry.sequence));
      const outcome = parts.embedded.execute({ ...command, payload }, nowMs);
      parts.ledger.end(entry.sequence, endOf(outcome), times);
    });
    return "ended";
  } catch (error) {
    console.error(JSON.stringify({ event: "command_threw", sequence: entry.sequence, error: String(error) }));
    parts.keys.confirm();
    parts.store.undone(entry.sequence);
    return afterBug(parts, entry, times);
  }
}

/** What is counted in memory of what tenants hold is undone with the rows. */
function inTransaction({ storage, holdings }: RunnerParts, run: () => void): void {
  holdings.atomically(() => storage.transactionSync(run));
}

/** Timers that go off between two batches of commands: neither holds up the other for long. */
const TIMERS_PER_TURN_MAX = 64;
/** Work of a turn of commands, in the executor's steps: 0.2 s. The command that has the turn then is the last of it. */
export const TURN_STEPS_MAX = 20_000_000;
/** Work of a turn of timers: 20 ms. */
const TIMER_TURN_STEPS_MAX = 2_000_000;
/** Of a timer beyond its expressions: its instance is read and written. */
const TIMER_STEPS = 10_000;
/** A bug rarely goes away by itself, and there is no command that could be set aside. */
const TIMER_AGAIN_MS = 60_000;

/**
 * Lets timers go off that are due, each instance's in a transaction of its own, at its tenant's expense.
 *
 * @returns true when more may be due of tenants that need not wait
 */
export function fireTimers(parts: RunnerParts, nowMs: number): boolean {
  const { embedded, keys, shares } = parts;
  const due = embedded.dueTimers(nowMs, TIMERS_PER_TURN_MAX, shares.waiting(nowMs));
  const enough = embedded.stepsSpent() + TIMER_TURN_STEPS_MAX;
  for (const timers of due) {
    if (embedded.stepsSpent() > enough) return true;
    if (!shares.mayRun(timers.tenant, nowMs)) continue;
    const before = embedded.stepsSpent();
    try {
      inTransaction(parts, () => embedded.fireTimers(timers, nowMs));
    } catch (error) {
      console.error(JSON.stringify({ event: "timer_threw", sequence: timers.seq, error: String(error) }));
      keys.confirm();
      embedded.postponeTimers(timers, nowMs + TIMER_AGAIN_MS);
    }
    shares.charge(timers.tenant, TIMER_STEPS + embedded.stepsSpent() - before, nowMs);
  }
  return due.length === TIMERS_PER_TURN_MAX;
}

function afterBug(
  parts: RunnerParts,
  entry: QueueEntry,
  times: { attempts: number; startedAtMs: number; finishedAtMs: number },
): Run {
  if (times.attempts < ATTEMPTS_MAX) {
    parts.store.setAttempts(entry.sequence, times.attempts);
    return "again";
  }
  const error: CommandError = { code: "internal", message: `the command could not be run in ${ATTEMPTS_MAX} attempts` };
  parts.ledger.end(entry.sequence, { state: "dead", error }, times);
  return "ended";
}

function endOf(outcome: Outcome) {
  return outcome.state === "succeeded"
    ? { state: outcome.state, result: JSON.stringify(outcome.result) }
    : { state: outcome.state, error: outcome.error };
}
