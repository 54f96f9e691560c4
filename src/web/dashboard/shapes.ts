import type { CommandView } from "../../core/command.ts";
import type { FlowSettings } from "../../core/flow-control/settings.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { LimiterMode } from "../../core/lease.ts";
import type { Policy } from "../../core/policy.ts";
import type { QueueStatus } from "../../core/queue-status.ts";

/** What the admin routes answer, as this page reads it. The routes' own schemas say the same; browser tests hold both. */

export interface Session {
  readonly actor: "admin" | "viewer";
}

/** `GET /admin/queue` */
export interface AdminQueue extends QueueStatus {
  /** False: new commands are refused while it is paused. */
  readonly accepting: boolean;
  /** What one more ordinary command refused now would be told; null while there is room. */
  readonly retryAfterSeconds: number | null;
  readonly partitions: number;
}

export interface TenantUse {
  readonly tenant: string;
  readonly tier: string;
  readonly admitted: number;
  readonly refused: number;
}

/** `GET /admin/usage` */
export interface Usage {
  readonly since: string;
  readonly until: string;
  readonly minutes: number;
  readonly admitted: number;
  readonly refused: number;
  readonly topByUse: readonly TenantUse[];
  readonly topByRefusals: readonly TenantUse[];
}

/** `GET /admin/tenants/{id}/usage` */
export interface TenantUsage {
  readonly tenant: string;
  readonly admitted: number;
  readonly refused: number;
  readonly since: string;
  readonly minutes: ReadonlyArray<{ readonly minute: string; readonly admitted: number; readonly refused: number }>;
}

export type DeadLetter = Omit<CommandView, "result"> & {
  readonly tenant: string;
  readonly result?: JsonObject;
  readonly payload?: JsonObject;
};

export interface DeadLetters {
  readonly deadLetters: readonly DeadLetter[];
  readonly next?: string;
}

export interface FlowControl extends FlowSettings {
  readonly parameters: Readonly<Record<string, Json>>;
  readonly limit: number | null;
  readonly inFlight: number;
}

export interface Tier {
  readonly name: string;
  readonly policies: readonly Policy[];
  readonly weight: number;
  readonly limiterMode: LimiterMode;
  readonly updatedAt: string;
}

export interface Tenant {
  readonly id: string;
  readonly tier: string;
  readonly status: "active" | "suspended";
  /** Its own, in place of its tier's. */
  readonly limits: { readonly requestsPerSecond: number; readonly burstSize: number } | null;
  readonly policies: readonly Policy[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Tenants {
  readonly tenants: readonly Tenant[];
  readonly next?: string;
}

export interface ApiKey {
  readonly keyId: string;
  readonly name: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

export interface NewApiKey extends ApiKey {
  readonly key: string;
}

export interface AuditEntry {
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly detail: JsonObject;
}

export interface Audit {
  readonly entries: readonly AuditEntry[];
  readonly next?: number;
}
