import { type ClaimedKey, judgeKey, type KeyVerdict, type UsedKey } from "../core/idempotency.ts";
import type { TenantHoldings } from "../core/tenant-holdings.ts";
import { ROW_BYTES } from "../core/tenant-quotas.ts";
import type { FirstAnswer, KeptAnswer, KeyUse } from "./submission.ts";

/**
 * Callers' own names for their commands (`Idempotency-Key`): which were used, and what was answered. A used key is
 * written in the commit that accepts its command. A key whose first request is still held open is claimed in memory only,
 * and until a time: no crash can lock it.
 */

const CLEAR_PIECE = 500;
/** Keys that go at a time once a tenant has too many: finding the oldest reads all of that tenant's. */
const EVICTED_KEYS = 4_000;

export class UsedKeys {
  readonly #sql: SqlStorage;
  readonly #keepMs: number;
  readonly #holdings: TenantHoldings;
  readonly #claims = new Map<string, ClaimedKey>();

  /** @param keepMs how long a used key is kept, in milliseconds */
  constructor(sql: SqlStorage, keepMs: number, holdings: TenantHoldings) {
    this.#sql = sql;
    this.#keepMs = keepMs;
    this.#holdings = holdings;
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

  /**
   * Writes what the first request is told. To be called in the event that accepts its command. The oldest keys of a
   * tenant that has too many go.
   */
  use(tenant: string, { key, fingerprint }: KeyUse, answer: FirstAnswer, nowMs: number): void {
    // One that was kept for its time is written over.
    if (this.#used(tenant, key) === null) this.#holdings.add(tenant, "keys", bytesOf(key));
    this.#sql.exec(
      "INSERT OR REPLACE INTO idempotency_keys (tenant, key, fingerprint, used_at, answer) VALUES (?, ?, ?, ?, ?)",
      tenant,
      key,
      fingerprint,
      nowMs,
      textOf(answer),
    );
    if (!this.#holdings.hasRoom(tenant, "keys", 0)) this.#evict(tenant);
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
      this.#holdings.add(row.tenant, "keys", -bytesOf(row.key));
    }
    const last = rows.length === CLEAR_PIECE ? rows.at(-1) : undefined;
    return last === undefined ? null : [last.tenant, last.key];
  }

  /** Clears a piece of what a tenant has used up to this time, Unix milliseconds. @returns true when there is more */
  forget(tenant: string, untilMs: number): boolean {
    const gone = this.#sql
      .exec<{ key: string }>(
        `DELETE FROM idempotency_keys WHERE tenant = ?1 AND key IN
           (SELECT key FROM idempotency_keys WHERE tenant = ?1 AND used_at <= ?2 LIMIT ?3)
         RETURNING key`,
        tenant,
        untilMs,
        CLEAR_PIECE,
      )
      .toArray();
    for (const { key } of gone) this.#holdings.add(tenant, "keys", -bytesOf(key));
    return gone.length === CLEAR_PIECE;
  }

  #evict(tenant: string): void {
    const gone = this.#sql
      .exec<{ key: string }>(
        `DELETE FROM idempotency_keys WHERE tenant = ?1 AND used_at <=
           (SELECT used_at FROM idempotency_keys WHERE tenant = ?1 ORDER BY used_at LIMIT 1 OFFSET ?2)
         RETURNING key`,
        tenant,
        EVICTED_KEYS,
      )
      .toArray();
    for (const { key } of gone) this.#holdings.add(tenant, "keys", -bytesOf(key));
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

/** What a key takes on disk. Its answer is short, see {@link textOf}. */
function bytesOf(key: string): number {
  return ROW_BYTES + key.length;
}

/** A command that has ended is not kept a second time, but read again from its own row. */
function textOf(answer: FirstAnswer): string {
  if (answer.told !== "ended") return JSON.stringify(answer);
  const { commandId, state } = answer.command;
  const kept: KeptAnswer = { told: "ended_as_kept", commandId, state };
  return JSON.stringify(kept);
}
