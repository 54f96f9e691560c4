/**
 * The embedded engine behind the queue: each command is carried out in the same SQLite as the queue itself, in the
 * transaction that the caller holds, so that effect and result commit or vanish together.
 *
 * This file only says which rule serves which intent. The tables are in schema.ts and are made by the engine object,
 * never here: constructing an executor touches no storage.
 */

import { INTENTS } from "../../core/intents.ts";
import type { KeySource } from "../../core/keys.ts";
import type { ExecutableCommand, Outcome, TransactionalExecutor } from "../port.ts";
import { activateJobs } from "./activation.ts";
import { deploy } from "./definitions.ts";
import { resolveIncident } from "./incidents.ts";
import { cancelInstance, createInstance, sweepInstances } from "./instances.ts";
import { completeJob, failJob, throwError, updateJob } from "./job-commands.ts";
import { payloadSchemas } from "./payloads.ts";
import type { Work } from "./work.ts";

export class EmbeddedExecutor implements TransactionalExecutor {
  readonly #sql: SqlStorage;
  readonly #keys: KeySource;
  readonly #keepMs: number;

  /**
   * @param sql a database in which every step of EMBEDDED_SCHEMA has run
   * @param keys where instances, jobs and incidents get their keys from
   * @param keepMs how long an ended instance is kept, in milliseconds
   */
  constructor(sql: SqlStorage, keys: KeySource, keepMs: number) {
    this.#sql = sql;
    this.#keys = keys;
    this.#keepMs = keepMs;
  }

  /** @throws also for a payload that does not match its schema: the edge has checked it, so that this is a bug */
  execute(command: ExecutableCommand, nowMs: number): Outcome {
    const work: Work = { sql: this.#sql, keys: this.#keys, tenant: command.tenant, nowMs };
    const { payload } = command;
    const intent = INTENTS.find((known) => known === command.intent);
    if (intent === undefined) throw new Error(`embedded engine: no rule for the intent ${command.intent}`);
    // Parsing again fills in defaults and gives each rule its own type; what it costs is small beside a commit.
    switch (intent) {
      case "DEPLOYMENT:CREATE":
        return deploy(work, payloadSchemas[intent].parse(payload));
      case "PROCESS_INSTANCE:CREATE":
        return createInstance(work, payloadSchemas[intent].parse(payload));
      case "PROCESS_INSTANCE:CANCEL":
        return cancelInstance(work, payloadSchemas[intent].parse(payload));
      case "JOB:ACTIVATE":
        return activateJobs(work, payloadSchemas[intent].parse(payload));
      case "JOB:COMPLETE":
        return completeJob(work, payloadSchemas[intent].parse(payload));
      case "JOB:FAIL":
        return failJob(work, payloadSchemas[intent].parse(payload));
      case "JOB:THROW_ERROR":
        return throwError(work, payloadSchemas[intent].parse(payload));
      case "JOB:UPDATE":
        return updateJob(work, payloadSchemas[intent].parse(payload));
      case "INCIDENT:RESOLVE":
        return resolveIncident(work, payloadSchemas[intent].parse(payload));
      default:
        return intent satisfies never;
    }
  }

  sweep(nowMs: number): boolean {
    return sweepInstances(this.#sql, nowMs - this.#keepMs);
  }
}
