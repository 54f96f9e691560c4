/**
 * The embedded engine behind the queue: each command is carried out in the same SQLite as the queue itself, in the
 * transaction that the caller holds, so that effect and result commit or vanish together.
 *
 * This file only says which rule serves which intent and which read. The tables are in schema.ts and are made by the
 * engine object, never here: constructing an executor touches no storage.
 */

import { INTENTS } from "../../core/intents.ts";
import type { JsonObject } from "../../core/json.ts";
import type { KeySource } from "../../core/keys.ts";
import type { TenantHoldings } from "../../core/tenant-holdings.ts";
import type { ExecutableCommand, Outcome, TransactionalExecutor } from "../port.ts";
import { activateJobs, nextJobMs } from "./activation.ts";
import { deploy } from "./deployments.ts";
import { EndedInstances } from "./ended-instances.ts";
import { deleteHoldings } from "./holdings.ts";
import { resolveIncident } from "./incidents.ts";
import { cancelInstance, createInstance } from "./instances.ts";
import { completeJob, failJob, throwError, updateJob } from "./job-commands.ts";
import { Models } from "./models.ts";
import { Notices, type TakenNotices } from "./notices.ts";
import { payloadSchemas } from "./payloads.ts";
import { type InstanceState, instanceState, type Search, type SearchQuery, search } from "./search.ts";
import type { Fault } from "./search-filter.ts";
import type { SearchKind } from "./search-kinds.ts";
import { stepsSpent } from "./spent.ts";
import { type DueInstance, dueInstances, fireInstance, nextDueMs, postponeInstance } from "./timers.ts";
import { quotaExceeded, type Work } from "./work.ts";

export class EmbeddedExecutor implements TransactionalExecutor {
  readonly #sql: SqlStorage;
  readonly #keys: KeySource;
  readonly #keepMs: number;
  readonly #holdings: TenantHoldings;
  readonly #ended: EndedInstances;
  readonly #models = new Models();
  readonly #notices = new Notices();

  /**
   * @param sql a database in which every step of EMBEDDED_SCHEMA has run
   * @param keys where instances, jobs and incidents get their keys from
   * @param keepMs how long an ended instance is kept, in milliseconds
   * @param holdings what is on disk already, counted
   */
  constructor(sql: SqlStorage, keys: KeySource, keepMs: number, holdings: TenantHoldings) {
    this.#sql = sql;
    this.#keys = keys;
    this.#keepMs = keepMs;
    this.#holdings = holdings;
    this.#ended = new EndedInstances(sql, holdings);
  }

  /** @throws also for a payload that does not match its schema: the edge has checked it, so that this is a bug */
  execute(command: ExecutableCommand, nowMs: number): Outcome {
    const work = this.#work(command.tenant, nowMs);
    const { payload } = command;
    const intent = INTENTS.find((known) => known === command.intent);
    if (intent === undefined) throw new Error(`embedded engine: no rule for the intent ${command.intent}`);
    const refused = this.#refusedByQuota(command);
    if (refused !== null) return refused;
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

  /** A command that adds to what its tenant has used up; that tenant's oldest ended instances go first. */
  #refusedByQuota({ tenant, intent, payload }: ExecutableCommand): Outcome | null {
    if (this.#holdings.hasRoom(tenant, "process", 0)) return null;
    this.#ended.clearOldestOf(tenant);
    if (this.#holdings.hasRoom(tenant, "process", 0) || !addsToProcess(intent, payload)) return null;
    return quotaExceeded("process", "Complete or cancel instances, or wait until ended ones are cleared");
  }

  sweep(nowMs: number): boolean {
    return this.#ended.sweep(nowMs - this.#keepMs);
  }

  /**
   * Deletes what a tenant has up to a sequence, a bounded piece a call.
   *
   * @returns true when there is more to delete
   */
  forget(tenant: string, upTo: number): boolean {
    this.#models.clear();
    return deleteHoldings(this.#sql, this.#holdings, tenant, upTo);
  }

  dueTimers(nowMs: number, limit: number, waiting: readonly string[]): readonly DueInstance[] {
    return dueInstances(this.#sql, nowMs, limit, waiting);
  }

  fireTimers({ tenant, seq }: DueInstance, nowMs: number): void {
    fireInstance(this.#work(tenant, nowMs), seq);
  }

  postponeTimers({ seq }: DueInstance, untilMs: number): void {
    postponeInstance(this.#sql, seq, untilMs);
  }

  stepsSpent(): number {
    return stepsSpent();
  }

  nextTimerMs(waiting: readonly string[]): number | null {
    return nextDueMs(this.#sql, waiting);
  }

  /**
   * What commands and timers have made since the last call. Of one that was rolled back it may tell too much: who is
   * woken looks for itself.
   */
  takeNotices(): TakenNotices {
    return this.#notices.take();
  }

  /** When the earliest job of a type can be had, in Unix milliseconds: see {@link nextJobMs}. */
  nextJobMs(tenant: string, type: string): number | null {
    return nextJobMs(this.#sql, tenant, type);
  }

  /** Begins to look for the tenant's instances, incidents or jobs; a fault says what of the query cannot be understood. */
  search(tenant: string, kind: SearchKind, query: SearchQuery, nowMs: number): Search | Fault {
    return search(this.#work(tenant, nowMs), kind, query);
  }

  /** The state and variables of an instance of the tenant; null: there is none of that key. */
  instanceState(tenant: string, instanceKey: string): InstanceState | null {
    return instanceState(this.#work(tenant, 0), instanceKey);
  }

  #work(tenant: string, nowMs: number): Work {
    return {
      sql: this.#sql,
      keys: this.#keys,
      tenant,
      nowMs,
      models: this.#models,
      notices: this.#notices,
      holdings: this.#holdings,
    };
  }
}

/** Whether a command makes an instance, or brings variables. What only ends work is never refused by a quota. */
function addsToProcess(intent: string, { variables }: JsonObject): boolean {
  if (intent === "PROCESS_INSTANCE:CREATE") return true;
  return typeof variables === "object" && variables !== null && Object.keys(variables).length > 0;
}
