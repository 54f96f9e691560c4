/**
 * What one tenant may hold in an engine object: the one table of it. Each place that keeps something for a tenant asks
 * here how much that may be, and does what the table says when the quota is used up.
 *
 * A quota is of one engine object, hence of one partition. Sizes are of the texts as they are stored, with a flat
 * {@link ROW_BYTES} for each row; time bounds (`FINISHED_KEEP_HOURS` and the like) hold besides.
 */

const MIB = 1024 * 1024;

/** What a row, its other columns and its places in indexes take on disk, in bytes: about, and rather more. */
export const ROW_BYTES = 256;

export interface TenantQuota {
  /** How refusals, documents and logs call it. */
  readonly name: string;
  readonly unit: "bytes" | "commands";
  readonly value: number;
  /** Why so much, and not more. */
  readonly reason: string;
  /** What happens when it is used up. */
  readonly usedUp: string;
}

export const TENANT_QUOTAS = {
  keys: {
    name: "TENANT_KEY_BYTES_MAX",
    unit: "bytes",
    value: 32 * MIB,
    reason: "some 100 000 idempotency keys: more retries than a caller has open",
    usedUp: "the oldest keys go; a repeat of one is a new command",
  },
  results: {
    name: "TENANT_RESULT_BYTES_MAX",
    unit: "bytes",
    value: 64 * MIB,
    reason: "a sixteenth of FINISHED_KEEP_BYTES, so that no tenant's results push out those of others",
    usedUp: "the oldest ended commands go",
  },
  deadLetters: {
    name: "TENANT_DEAD_LETTER_BYTES_MAX",
    unit: "bytes",
    value: 64 * MIB,
    reason: "hundreds of the largest bodies, until an operator has looked",
    usedUp: "the oldest dead letters go, each with a line in the log",
  },
  process: {
    name: "TENANT_PROCESS_BYTES_MAX",
    unit: "bytes",
    value: 512 * MIB,
    reason: "instances with their variables, jobs and incidents: a sixteenth of an object's disk",
    usedUp: "the oldest ended instances go; then what would add to it fails with quota_exceeded",
  },
  definitions: {
    name: "TENANT_DEFINITION_BYTES_MAX",
    unit: "bytes",
    value: 64 * MIB,
    reason: "64 of the largest models; definitions are never removed while their tenant stays",
    usedUp: "a deployment that brings a new version fails with quota_exceeded",
  },
  deferred: {
    name: "TENANT_DEFERRED_BYTES_MAX",
    unit: "bytes",
    value: 64 * MIB,
    reason: "OVERFLOW=defer takes in at the caller's speed, for as long as the engine is full",
    usedUp: "refused with queue_full",
  },
  critical: {
    name: "TENANT_CRITICAL_COMMANDS_MAX",
    unit: "commands",
    value: 50_000,
    reason: "ids of critical commands are in memory, about 100 bytes each, and have no other bound",
    usedUp: "refused with queue_full",
  },
  criticalBytes: {
    name: "TENANT_CRITICAL_BYTES_MAX",
    unit: "bytes",
    value: 64 * MIB,
    reason: "bodies of critical commands are on disk, and their lane has no bound",
    usedUp: "refused with queue_full",
  },
} as const satisfies Readonly<Record<string, TenantQuota>>;

export type QuotaName = keyof typeof TENANT_QUOTAS;

/**
 * The part of the queue's bytes (`QUEUE_BYTES_MAX`) that one tenant's ordinary commands may take while another tenant
 * lacks places: few large bodies must not keep everybody's small ones out. Used up: refused with queue_full.
 */
export const QUEUE_BYTES_SHARE = 0.5;

/** The limit in words, as refusals name it. */
export function quotaText(quota: QuotaName): string {
  const { name, value, unit } = TENANT_QUOTAS[quota];
  return `${name} of ${value} ${unit}`;
}
