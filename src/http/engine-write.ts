import type { Context } from "hono";
import type { Config } from "../config.ts";
import type { JsonObject } from "../core/json.ts";
import type { CommandEngine } from "../durable/command-engine.ts";
import { callEveryEngine, type PartitionsReached } from "../durable/partition-writes.ts";
import type { Calls } from "../durable/stubs.ts";
import type { AppEnv } from "./app-env.ts";
import { forgetEngine } from "./edge.ts";
import { auditEngine } from "./engine-audit.ts";
import { problem } from "./problem.ts";

/**
 * An admin write in every partition of the engine. No transaction spans objects, so where one does not answer the others
 * may have changed: the answer and the audit then say which, and the same request again is safe.
 */

/** A partition that restarts is back by then. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Audits a change, and then makes it in every partition.
 *
 * @param detail of the audit entry
 * @param write must be safe to repeat
 * @returns what each partition answered; or the answer to give because not every one has confirmed
 */
export async function writeEveryEngine<T>(
  c: Context<AppEnv>,
  config: Config,
  action: string,
  detail: JsonObject,
  write: (engine: Calls<CommandEngine>) => Promise<T>,
): Promise<readonly T[] | Response> {
  await auditEngine(c, action, detail);
  const { answers, failures, ...reached } = await callEveryEngine(c.env, config, write);
  forgetEngine();
  if (reached.unconfirmed.length === 0) return answers;
  logFailures(c, action, reached, failures);
  const entry = { ...detail, confirmed: [...reached.confirmed], unconfirmed: [...reached.unconfirmed] };
  // The change is made whatever becomes of the entry: the log has it then.
  await auditEngine(c, action, entry).catch((error) => logFailures(c, `${action} (audit)`, reached, [error]));
  return answerIncomplete(c, reached, detailOf(reached));
}

/** Asks every partition before a change. @returns the answers; or the answer to give because one is missing */
export async function askEveryEngine<T>(
  c: Context<AppEnv>,
  config: Config,
  ask: (engine: Calls<CommandEngine>) => Promise<T>,
): Promise<readonly T[] | Response> {
  const { answers, failures, confirmed, unconfirmed } = await callEveryEngine(c.env, config, ask);
  if (unconfirmed.length === 0) return answers;
  logFailures(c, "ask", { confirmed, unconfirmed }, failures);
  const detail = `${named(unconfirmed)} of the engine did not answer. Nothing was changed.`;
  return answerIncomplete(c, { confirmed: [], unconfirmed }, detail);
}

function answerIncomplete(c: Context<AppEnv>, partitions: PartitionsReached, detail: string): Response {
  return problem(c, { code: "unavailable", detail, retryAfterSeconds: RETRY_AFTER_SECONDS, partitions });
}

function detailOf({ confirmed, unconfirmed }: PartitionsReached): string {
  const changed = confirmed.length === 0 ? "No partition of the engine" : named(confirmed);
  return (
    `${changed} confirmed the change. ${named(unconfirmed)} did not, and may have changed or not. ` +
    "Repeating the request is safe."
  );
}

function named(partitions: readonly number[]): string {
  return `${partitions.length === 1 ? "Partition" : "Partitions"} ${partitions.join(", ")}`;
}

function logFailures(
  c: Context<AppEnv>,
  action: string,
  reached: PartitionsReached,
  failures: readonly unknown[],
): void {
  const errors = failures.map(String);
  const requestId = c.get("requestId");
  console.error(JSON.stringify({ event: "engine_write_incomplete", requestId, action, ...reached, errors }));
}
