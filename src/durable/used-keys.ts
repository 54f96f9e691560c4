import { type ClaimedKey, judgeKey, type KeyVerdict, type UsedKey } from "../core/idempotency.ts";
import type { FirstAnswer, KeptAnswer, KeyUse } from "./submission.ts";

/**
 * Callers' own names for their commands (`Idempotency-Key`): which were used, and what was answered. A used key is
 * written in the commit that accepts its command. A key whose first request is still held open is claimed in memory only,
 * and until a time: no crash can lock it.
 */

/** A command with a longer text is not kept a second time: a row has 2 MB. */
const ANSWER_LENGTH_MAX = 500_000;
const CLEAR_PIECE = 500;

export class UsedKeys {
  readonly #sql: SqlStorage;
  readonly #keepMs: number;
  readonly #claims = new Map<string, ClaimedKey>();

  /** @param keepMs how long a used key is kept, in milliseconds */
  constructor(sql: SqlStorage, keepMs: number) {
    this.#sql = sql;
    this.#keepMs = keepMs;
  }

  judge(tenant: string, { key, fingerprint }: KeyUse, nowMs: number): KeyVerdict<KeptAnswer> {
    const claim = this.#claims.get(nameOf(tenant, key)) ?? null;
    return judgeKey(fingerprint, this.#used(tenant, key), claim, this.#keepMs, nowMs);
  }

  /** The first request of a key is on its way, and is answered by `untilMs` at the latest. */
  claim(tenant: string, { key, fingerprint }: KeyUse, untilMs: number): void {
    this.#claims.set(nameOf(tenant, key), { fingerprint, untilMs });
  }

  isClaimed(tenant: string, key: string): boolean {
    return this.#claims.has(nameOf(tenant, key));
  }

  release(tenant: string, key: string): void {
    this.#claims.delete(nameOf(tenant, key));
  }

  /** Writes what the first request is told. To be called in the event that accepts its command. */
  use(tenant: string, { key, fingerprint }: KeyUse, answer: FirstAnswer, nowMs: number): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO idempotency_keys (tenant, key, fingerprint, used_at, answer) VALUES (?, ?, ?, ?, ?)",
      tenant,
      key,
      fingerprint,
      nowMs,
      textOf(answer),
    );
  }

  /** The first request was held open, and is told how its command stands by now. */
  amend(tenant: string, key: string, answer: FirstAnswer): void {
    const text = textOf(answer);
    this.#sql.exec("UPDATE idempotency_keys SET answer = ? WHERE tenant = ? AND key = ?", text, tenant, key);
  }

  /**
   * Clears a piece of what is no longer kept, and the claims that nobody came back for.
   *
   * @param after where the last piece ended; null: from the beginning
   * @returns where to go on; null: that was all
   */
  sweep(after: readonly [string, string] | null, nowMs: number): readonly [string, string] | null {
    for (const [name, { untilMs }] of this.#claims) if (untilMs <= nowMs) this.#claims.delete(name);
    const [tenant, key] = after ?? ["", ""];
    const rows = this.#sql
      .exec<{ tenant: string; key: string; used_at: number }>(
        "SELECT tenant, key, used_at FROM idempotency_keys WHERE (tenant, key) > (?, ?) ORDER BY tenant, key LIMIT ?",
        tenant,
        key,
        CLEAR_PIECE,
      )
      .toArray();
    for (const row of rows) {
      if (nowMs - row.used_at < this.#keepMs) continue;
      this.#sql.exec("DELETE FROM idempotency_keys WHERE tenant = ? AND key = ?", row.tenant, row.key);
    }
    const last = rows.length === CLEAR_PIECE ? rows.at(-1) : undefined;
    return last === undefined ? null : [last.tenant, last.key];
  }

  #used(tenant: string, key: string): UsedKey<KeptAnswer> | null {
    const [row] = this.#sql
      .exec<{ fingerprint: string; used_at: number; answer: string }>(
        "SELECT fingerprint, used_at, answer FROM idempotency_keys WHERE tenant = ? AND key = ?",
        tenant,
        key,
      )
      .toArray();
    return row ? { fingerprint: row.fingerprint, atMs: row.used_at, answer: JSON.parse(row.answer) } : null;
  }
}

/** One text for both, which no other pair has: the length says where the key ends. */
function nameOf(tenant: string, key: string): string {
  return `${key.length}:${key}:${tenant}`;
}

function textOf(answer: FirstAnswer): string {
  const text = JSON.stringify(answer);
  if (answer.told !== "ended" || text.length <= ANSWER_LENGTH_MAX) return text;
  const { commandId, state } = answer.command;
  const kept: KeptAnswer = { told: "ended_as_kept", commandId, state };
  return JSON.stringify(kept);
}
