import type { Context } from "hono";
import type { JsonObject } from "../core/json.ts";
import { recordAudit } from "../store/audit.ts";
import type { AppEnv } from "./app-env.ts";

/**
 * Writes the audit entry of a change that is made in the engine and not in D1. Before the change, so that none is made
 * without its entry; when D1 is away, nothing is done.
 */
export async function auditEngine(c: Context<AppEnv>, action: string, detail: JsonObject): Promise<void> {
  await recordAudit(c.env.DB, { actor: c.get("actor"), nowMs: c.get("nowMs") }, { action, target: "engine", detail });
}
