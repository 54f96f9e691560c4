import { addEnd, END_STATES, type EndCounts, NO_ENDS } from "../core/command.ts";
import type { LineState } from "../core/delivery/line.ts";
import type { FlowChange } from "../core/flow-control/settings.ts";
import { firstSequence, formatKey, type KeySource, parseKey } from "../core/keys.ts";

/**
 * The engine's few single values, each a row of `engine_state`: settings of operators, the mark, and how far keys have
 * been given out. Written rarely; what is read often is kept in memory by who asks.
 */

/** What an operator changed while it runs. Absent: the deployment's variable holds. */
export interface EngineSettings {
  readonly paused: boolean;
  /** While paused: whether commands are still taken up to the bound. */
  readonly accepting: boolean;
  readonly flow?: FlowChange;
}

export interface ReservedKeys extends KeySource {
  /** Writes the reservation again, after a transaction that may have held it was rolled back. */
  confirm(): void;
}

const NO_SETTINGS: EngineSettings = { paused: false, accepting: true };

/** How commands ended, and how many bytes their results and errors take on disk. */
export interface Tally {
  readonly ends: EndCounts;
  readonly bytes: number;
}

export function addTallies(a: Tally, b: Tally): Tally {
  return { ends: END_STATES.reduce((sum, end) => addEnd(sum, end, b.ends[end]), a.ends), bytes: a.bytes + b.bytes };
}

/** Every command below `sequence` has ended, except stragglers. */
export interface Mark {
  readonly sequence: number;
  /** How those ended. */
  readonly below: Tally;
  /** How many of them are gone from disk, and how many bytes went with them. */
  readonly cleared: number;
  readonly clearedBytes: number;
}

/** A tenant that was deleted: what had a sequence up to this one, or was used until then (Unix milliseconds), is its. */
export interface ForgottenTenant {
  readonly tenant: string;
  readonly upTo: number;
  readonly atMs: number;
}

const FIRST_MARK: Mark = { sequence: 1, below: { ends: NO_ENDS, bytes: 0 }, cleared: 0, clearedBytes: 0 };

export class EngineState {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  settings(): EngineSettings {
    return this.#read<EngineSettings>("settings") ?? NO_SETTINGS;
  }

  saveSettings(settings: EngineSettings): void {
    this.#write("settings", settings);
  }

  mark(): Mark {
    return this.#read<Mark>("mark") ?? FIRST_MARK;
  }

  saveMark(mark: Mark): void {
    this.#write("mark", mark);
  }

  upstream(): LineState | null {
    return this.#read<LineState>("upstream");
  }

  saveUpstream(upstream: LineState): void {
    this.#write("upstream", upstream);
  }

  /** Deleted tenants whose rows have not all gone. */
  forgotten(): readonly ForgottenTenant[] {
    return this.#read<readonly ForgottenTenant[]>("forgotten") ?? [];
  }

  saveForgotten(tenants: readonly ForgottenTenant[]): void {
    this.#write("forgotten", tenants);
  }

  /** How many dead commands were ever sent again. */
  revived(): number {
    return this.#read<number>("revived") ?? 0;
  }

  saveRevived(revived: number): void {
    this.#write("revived", revived);
  }

  /**
   * Keys in order, for one partition. Reserved on disk in blocks, so that a key costs no row and none is given out
   * twice: after a crash the rest of a block is skipped.
   */
  keySource(partition: number, nowMs: number): ReservedKeys {
    let next = this.#read<number>("next_key") ?? firstSequence(nowMs);
    let reserved = next;
    return {
      next: () => {
        if (next >= reserved) {
          this.#write("next_key", next + KEY_BLOCK);
          reserved = next + KEY_BLOCK;
        }
        return next++;
      },
      confirm: () => this.#write("next_key", reserved),
      format: (sequence) => formatKey(partition, sequence),
      parse: (key) => {
        const parsed = parseKey(key);
        return parsed?.partition === partition ? parsed.sequence : null;
      },
    };
  }

  // Both ends of a value are in this class, so its type is known.
  #read<T>(name: string): T | null {
    const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM engine_state WHERE name = ?", name).toArray();
    return row === undefined ? null : (JSON.parse(row.value) as T);
  }

  #write(name: string, value: unknown): void {
    this.#sql.exec("INSERT OR REPLACE INTO engine_state (name, value) VALUES (?, ?)", name, JSON.stringify(value));
  }
}

/** Keys per reservation: one row for so many keys, and at most so many skipped by a crash. */
const KEY_BLOCK = 1000;
