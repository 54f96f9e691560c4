/**
 * Reads: searches for instances, incidents and jobs, and the state of one instance. No command, nothing is written.
 *
 * A search reads the rows of its kind one after the other, as there is no index for it: what it costs grows with what is
 * stored, and commands pay nothing for it. So it goes in pieces of so many rows, and whoever drives it lets others have
 * their turn in between, and has the tenant pay. A tenant finds its own things only.
 */

import { isJsonObject, type Json, type JsonObject, type JsonText } from "../../core/json.ts";
import { definitionOf } from "./definitions.ts";
import { type Fault, type Fragment, orderOf, pageOf, whereOf } from "./search-filter.ts";
import { type KindOfSearch, kindOf, type Row, type SearchKind } from "./search-kinds.ts";
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
  /** How many there are, on all pages; MATCHES_MAX at most. */
  readonly total: number;
  /** There are more than were counted. */
  readonly hasMore: boolean;
}

/** Rows that one piece looks at: some milliseconds. */
export const PIECE_ROWS = 1_000;
/** Found things that are counted and sorted: no caller looks at more pages. The newest, where they are sorted downwards. */
export const MATCHES_MAX = 10_000;
/** What a row takes that is looked at, in steps of about 10 ns, each condition on it, and its place in an order. */
const ROW_STEPS = 100;
const CONDITION_STEPS = 20;
const ORDER_STEPS = 100;

/** @returns a fault when the query cannot be understood */
export function search(work: Work, name: SearchKind, query: SearchQuery): Search | Fault {
  const kind = kindOf(name, work.nowMs);
  const where = whereOf(query.filter ?? {}, kind.fields, work.keys);
  if ("fault" in where) return where;
  const order = orderOf(query.sort ?? [], kind.fields, AGE);
  if ("fault" in order) return order;
  const page = pageOf(query.page ?? {});
  if ("fault" in page) return page;
  const [first] = query.sort ?? [];
  const newestFirst = isJsonObject(first) && first.order === "DESC";
  return new Search(work, name, { where, order, page, newestFirst });
}

/** What items are sorted by in the end. */
const AGE = "item.seq";

interface Plan {
  readonly where: Fragment;
  readonly order: Fragment;
  readonly page: Fragment;
  readonly newestFirst: boolean;
}

/** A search under way. */
export class Search {
  readonly #work: Work;
  readonly #name: SearchKind;
  readonly #kind: KindOfSearch;
  readonly #plan: Plan;
  readonly #found: number[] = [];
  /** Sequences beyond this one, in the direction of the search, have not been looked at; null: all have. */
  #at: number | null;

  constructor(work: Work, name: SearchKind, plan: Plan) {
    this.#work = work;
    this.#name = name;
    this.#kind = kindOf(name, work.nowMs);
    this.#plan = plan;
    this.#at = plan.newestFirst ? Number.MAX_SAFE_INTEGER : 0;
  }

  /** Whether all has been looked at, or more was found than is counted. */
  get isDone(): boolean {
    return this.#at === null || this.#found.length > MATCHES_MAX;
  }

  /** Looks at one more piece. @returns what that took, in steps of about 10 ns */
  step(): number {
    const { sql, tenant } = this.#work;
    const { where, newestFirst } = this.#plan;
    const from = this.#at ?? 0;
    const [beyond, upTo, order, last] = newestFirst ? ["<", ">=", "DESC", "min"] : [">", "<=", "ASC", "max"];
    const { at } = sql
      .exec<{ at: number | null }>(
        `SELECT ${last}(seq) AS at FROM
           (SELECT seq FROM ${this.#kind.table} WHERE seq ${beyond} ? ORDER BY seq ${order} LIMIT ?)`,
        from,
        PIECE_ROWS,
      )
      .one();
    this.#at = at;
    if (at === null) return ROW_STEPS;
    const rows = sql
      .exec<{ seq: number }>(
        `SELECT item.seq AS seq FROM ${this.#kind.from}
         WHERE item.seq ${beyond} ? AND item.seq ${upTo} ? AND item.tenant = ? AND ${where.sql}
         ORDER BY item.seq ${order} LIMIT ?`,
        ...[from, at, tenant, ...where.bindings, MATCHES_MAX - this.#found.length + 1],
      )
      .toArray();
    for (const { seq } of rows) this.#found.push(seq);
    return PIECE_ROWS * (ROW_STEPS + CONDITION_STEPS * where.bindings.length);
  }

  /** The page that was asked for, of what was found. */
  result(): Found & { readonly steps: number } {
    const { fields, columns, from, itemOf } = this.#kind;
    const { order, page } = this.#plan;
    const counted = this.#found.slice(0, MATCHES_MAX);
    const selected = [...Object.entries(fields).map(([field, { sql }]) => `${sql} AS ${field}`), ...columns].join(", ");
    const rows = this.#work.sql
      .exec<Row>(
        `SELECT ${selected} FROM ${from} WHERE item.seq IN (SELECT value FROM json_each(?))
         ORDER BY ${order.sql} ${page.sql}`,
        JSON.stringify(counted),
        ...page.bindings,
      )
      .toArray();
    const items = rows.map((row) => {
      const item = { ...itemOf(row, this.#work.keys), tenantId: this.#work.tenant };
      return this.#name === "jobs" ? { ...item, customHeaders: headersOf(this.#work, row) } : item;
    });
    const hasMore = this.#found.length > MATCHES_MAX;
    return { items, total: counted.length, hasMore, steps: counted.length * (order.sql === AGE ? 1 : ORDER_STEPS) };
  }
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
