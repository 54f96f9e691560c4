/**
 * Reads: searches for instances, incidents and jobs, and the state of one instance. No command, nothing is written.
 *
 * A search reads the rows of its kind one by one, as there is no index for it: what it costs grows with what is stored,
 * and commands pay nothing for it. A tenant finds its own things only.
 */

import type { Json, JsonObject, JsonText } from "../../core/json.ts";
import { definitionOf } from "./definitions.ts";
import { type Fault, orderOf, pageOf, whereOf } from "./search-filter.ts";
import { kindOf, type Row, type SearchKind } from "./search-kinds.ts";
import { elementOf } from "./tokens.ts";
import type { Work } from "./work.ts";

/** As the caller has sent it; what is absent does not narrow the search. */
export interface SearchQuery {
  readonly filter?: JsonObject;
  readonly sort?: readonly Json[];
  readonly page?: JsonObject;
}

export interface Found {
  readonly items: JsonObject[];
  /** How many there are, on all pages. */
  readonly total: number;
}

/** @returns a fault when the query cannot be understood */
export function search(work: Work, name: SearchKind, query: SearchQuery): Found | Fault {
  const { from, fields, columns, itemOf } = kindOf(name, work.nowMs);
  const where = whereOf(query.filter ?? {}, fields, work.keys);
  if ("fault" in where) return where;
  const order = orderOf(query.sort ?? [], fields, "item.seq");
  if ("fault" in order) return order;
  const page = pageOf(query.page ?? {});
  if ("fault" in page) return page;

  const tables = `FROM ${from} WHERE item.tenant = ? AND ${where.sql}`;
  const bindings = [work.tenant, ...where.bindings];
  const total = work.sql.exec<{ n: number }>(`SELECT count(*) AS n ${tables}`, ...bindings).one().n;
  const selected = [...Object.entries(fields).map(([field, { sql }]) => `${sql} AS ${field}`), ...columns].join(", ");
  const rows = work.sql
    .exec<Row>(`SELECT ${selected} ${tables} ORDER BY ${order.sql} ${page.sql}`, ...bindings, ...page.bindings)
    .toArray();
  const items = rows.map((row) => {
    const item = { ...itemOf(row, work.keys), tenantId: work.tenant };
    return name === "jobs" ? { ...item, customHeaders: headersOf(work, row) } : item;
  });
  return { items, total };
}

function headersOf(work: Work, row: Row): JsonObject {
  const element = elementOf(definitionOf(work, Number(row.definition)).model, String(row.elementId));
  return element.kind === "service-task" ? { ...element.headers } : {};
}

export interface InstanceState {
  readonly state: "ACTIVE" | "COMPLETED" | "TERMINATED";
  /** Of an object. */
  readonly variables: JsonText;
}

/** How an instance of the tenant is; null: there is none of that key. */
export function instanceState(work: Work, instanceKey: string): InstanceState | null {
  const [row] = work.sql
    .exec<{ state: string; variables: string }>(
      "SELECT state, variables FROM process_instances WHERE seq = ? AND tenant = ?",
      work.keys.parse(instanceKey),
      work.tenant,
    )
    .toArray();
  if (row === undefined) return null;
  const state = STATES[row.state];
  if (state === undefined) throw new Error(`instance ${instanceKey} is ${row.state}`);
  return { state, variables: row.variables };
}

const STATES: Readonly<Record<string, InstanceState["state"]>> = {
  active: "ACTIVE",
  completed: "COMPLETED",
  terminated: "TERMINATED",
};
