/**
 * What can be searched for: the tables of each kind, its fields for filters and sorting, and how a row reads as an item
 * (the names and forms of the engine's REST surface). Running a search is search.ts.
 */

import type { JsonObject } from "../../core/json.ts";
import type { KeySource } from "../../core/keys.ts";
import type { Field, Fields } from "./search-filter.ts";

export type SearchKind = "process-instances" | "incidents" | "jobs";

type Value = SqlStorageValue;
export type Row = Record<string, Value>;

export interface KindOfSearch {
  /** Tables, joined; what is searched for is `item`, its instance `instance`, that one's definition `definition`. */
  readonly from: string;
  /** The one whose rows are items. */
  readonly table: string;
  readonly fields: Fields;
  /** More columns that an item needs. */
  readonly columns: readonly string[];
  readonly itemOf: (row: Row, keys: KeySource) => JsonObject;
}

const text = (sql: string): Field => ({ kind: "text", sql });
const key = (sql: string): Field => ({ kind: "key", sql });
const integer = (sql: string): Field => ({ kind: "integer", sql });
const time = (sql: string): Field => ({ kind: "time", sql });
const flag = (sql: string): Field => ({ kind: "flag", sql });

const DEFINITION = "JOIN process_definitions AS definition ON definition.seq = instance.definition";

const OF_PROCESS: Fields = {
  processDefinitionId: text("definition.process_id"),
  processDefinitionKey: key("instance.definition"),
  processInstanceKey: key("instance.seq"),
  tenantId: text("item.tenant"),
};

const INSTANCES: KindOfSearch = {
  table: "process_instances",
  from: `process_instances AS item JOIN process_instances AS instance ON instance.seq = item.seq ${DEFINITION}`,
  fields: {
    ...OF_PROCESS,
    processDefinitionName: text("definition.name"),
    processDefinitionVersion: integer("definition.version"),
    processDefinitionVersionTag: text("definition.version_tag"),
    startDate: time("item.created_at"),
    endDate: time("item.ended_at"),
    state: text("upper(item.state)"),
    hasIncident: flag("item.seq IN (SELECT broken.instance FROM process_incidents AS broken)"),
    businessId: text("item.business_id"),
    parentProcessInstanceKey: key("NULL"),
    parentElementInstanceKey: key("NULL"),
  },
  columns: ["item.tags AS tags"],
  itemOf: (row, keys) => ({
    processDefinitionId: asText(row.processDefinitionId),
    processDefinitionName: orNull(row.processDefinitionName),
    processDefinitionVersion: Number(row.processDefinitionVersion),
    processDefinitionVersionTag: orNull(row.processDefinitionVersionTag),
    startDate: iso(row.startDate),
    endDate: iso(row.endDate),
    state: asText(row.state),
    hasIncident: row.hasIncident === 1,
    processInstanceKey: formatted(row.processInstanceKey, keys),
    processDefinitionKey: formatted(row.processDefinitionKey, keys),
    parentProcessInstanceKey: null,
    parentElementInstanceKey: null,
    rootProcessInstanceKey: null,
    tags: JSON.parse(orNull(row.tags) ?? "[]"),
    businessId: orNull(row.businessId),
  }),
};

const INCIDENTS: KindOfSearch = {
  table: "process_incidents",
  from: `process_incidents AS item JOIN process_instances AS instance ON instance.seq = item.instance ${DEFINITION}`,
  fields: {
    ...OF_PROCESS,
    incidentKey: key("item.seq"),
    errorType: text("item.type"),
    errorMessage: text("item.message"),
    elementId: text("item.element"),
    elementInstanceKey: key("item.element_key"),
    creationTime: time("item.created_at"),
    state: text("'ACTIVE'"),
    jobKey: key("item.job"),
  },
  columns: [],
  itemOf: (row, keys) => ({
    processDefinitionId: asText(row.processDefinitionId),
    errorType: asText(row.errorType),
    errorMessage: asText(row.errorMessage),
    elementId: asText(row.elementId),
    creationTime: iso(row.creationTime),
    state: asText(row.state),
    incidentKey: formatted(row.incidentKey, keys),
    processDefinitionKey: formatted(row.processDefinitionKey, keys),
    processInstanceKey: formatted(row.processInstanceKey, keys),
    rootProcessInstanceKey: null,
    elementInstanceKey: formatted(row.elementInstanceKey, keys),
    jobKey: formatted(row.jobKey, keys),
  }),
};

/** @param nowMs a whole number: it is written into the expressions */
function jobs(nowMs: number): KindOfSearch {
  const isTimedOut = `item.leased = 1 AND item.available_at <= ${nowMs}`;
  return {
    table: "process_jobs",
    from: `process_jobs AS item JOIN process_instances AS instance ON instance.seq = item.instance ${DEFINITION}
      LEFT JOIN process_incidents AS incident ON incident.seq = item.incident`,
    fields: {
      ...OF_PROCESS,
      jobKey: key("item.seq"),
      type: text("item.type"),
      state: text(`CASE WHEN item.done_until IS NOT NULL THEN 'COMPLETED'
        WHEN incident.type = 'UNHANDLED_ERROR_EVENT' THEN 'ERROR_THROWN' WHEN item.incident IS NOT NULL THEN 'FAILED'
        WHEN ${isTimedOut} THEN 'TIMED_OUT' ELSE 'CREATED' END`),
      elementId: text("item.element"),
      elementInstanceKey: key("item.element_key"),
      retries: integer("item.retries"),
      worker: text("coalesce(item.worker, '')"),
      deadline: time(`CASE WHEN item.leased = 1 THEN item.available_at END`),
      creationTime: time("item.created_at"),
      lastUpdateTime: time("NULL"),
      endTime: time("NULL"),
      errorCode: text("NULL"),
      errorMessage: text("incident.message"),
      // One that was given back: after a failure, or after its incident was resolved.
      hasFailedWithRetriesLeft: flag("item.leased = 0 AND coalesce(item.available_at > item.created_at, 0)"),
      kind: text("'BPMN_ELEMENT'"),
      listenerEventType: text("'UNSPECIFIED'"),
      isDenied: flag("NULL"),
      deniedReason: text("NULL"),
    },
    columns: ["instance.definition AS definition"],
    itemOf: (row, keys) => ({
      deadline: iso(row.deadline),
      deniedReason: null,
      elementId: asText(row.elementId),
      elementInstanceKey: formatted(row.elementInstanceKey, keys),
      endTime: null,
      errorCode: null,
      errorMessage: orNull(row.errorMessage),
      hasFailedWithRetriesLeft: row.hasFailedWithRetriesLeft === 1,
      isDenied: null,
      jobKey: formatted(row.jobKey, keys),
      kind: "BPMN_ELEMENT",
      listenerEventType: "UNSPECIFIED",
      processDefinitionId: asText(row.processDefinitionId),
      processDefinitionKey: formatted(row.processDefinitionKey, keys),
      processInstanceKey: formatted(row.processInstanceKey, keys),
      rootProcessInstanceKey: null,
      retries: Number(row.retries),
      state: asText(row.state),
      type: asText(row.type),
      worker: asText(row.worker),
      creationTime: iso(row.creationTime),
      lastUpdateTime: null,
    }),
  };
}

/** The kind of that name, as it looks at this moment. */
export function kindOf(name: SearchKind, nowMs: number): KindOfSearch {
  switch (name) {
    case "process-instances":
      return INSTANCES;
    case "incidents":
      return INCIDENTS;
    case "jobs":
      return jobs(Math.trunc(nowMs));
    default:
      return name satisfies never;
  }
}

function asText(value: Value | undefined): string {
  return String(value ?? "");
}

function orNull(value: Value | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function iso(value: Value | undefined): string | null {
  return typeof value === "number" ? new Date(value).toISOString() : null;
}

function formatted(value: Value | undefined, keys: KeySource): string | null {
  return typeof value === "number" ? keys.format(value) : null;
}
