import type { QueueStatus } from "../../../src/core/queue-status.ts";

/** What the engine says at the end of all instances, all jobs and all commands, held against what clients were told. */

const PAGE = 1000;

interface Instance {
  readonly processInstanceKey: string;
  readonly businessId: string;
  readonly state: string;
}

interface Job {
  readonly processInstanceKey: string;
  readonly elementId: string;
  readonly state: string;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly page: { readonly totalItems: number };
}

export interface Told {
  readonly ask: <T>(path: string, body?: object) => Promise<T>;
  /** The key of each instance that a client was told, by business id. */
  readonly created: ReadonlyMap<string, string>;
  readonly tasks: readonly string[];
}

export interface Books {
  readonly accepted: number;
  readonly ends: Readonly<Record<string, number>>;
  /** What should not be so, in words. */
  readonly broken: readonly string[];
}

export async function checkBooks({ ask, created, tasks }: Told): Promise<Books> {
  const broken: string[] = [];
  const equal = (what: string, actual: number, expected: number) => {
    if (actual !== expected) broken.push(`${what}: ${actual} instead of ${expected}`);
  };

  const instances = await allOf<Instance>(ask, "/v2/process-instances/search");
  equal("instances", instances.length, created.size);
  equal("business ids", new Set(instances.map(({ businessId }) => businessId)).size, created.size);
  const keys = [...created.values()];
  equal("keys that clients were told", new Set(keys).size, created.size);
  let completed = 0;
  for (let from = 0; from < keys.length; from += PAGE) {
    const filter = { state: "COMPLETED", processInstanceKey: { $in: keys.slice(from, from + PAGE) } };
    const search = { filter, page: { limit: PAGE } };
    const { items } = await ask<Page<Instance>>("/v2/process-instances/search", search);
    completed += items.filter((item) => created.get(item.businessId) === item.processInstanceKey).length;
  }
  equal("instances completed under the key that was told", completed, created.size);

  const jobs = await allOf<Job>(ask, "/v2/jobs/search");
  equal("jobs", jobs.length, created.size * tasks.length);
  const done = jobs.filter(({ state, elementId }) => state === "COMPLETED" && tasks.includes(elementId));
  equal("completed jobs", done.length, created.size * tasks.length);
  const known = new Set(keys);
  const pairs = done.filter((job) => known.has(job.processInstanceKey));
  const distinct = new Set(pairs.map((job) => `${job.processInstanceKey} ${job.elementId}`)).size;
  equal("tasks of instances that were completed", distinct, created.size * tasks.length);
  equal("incidents", (await allOf(ask, "/v2/incidents/search")).length, 0);

  return { ...(await checkQueue(ask, broken)), broken };
}

/** Every accepted command has ended in one way, or is still there. */
async function checkQueue(ask: Told["ask"], broken: string[]): Promise<Omit<Books, "broken">> {
  const { inFlight, counters } = await ask<QueueStatus>("/v1/queue");
  const { accepted, refused: _refused, ...ends } = counters;
  const ended = Object.values(ends).reduce((sum, n) => sum + n, 0);
  if (accepted !== ended + inFlight) broken.push(`accepted ${accepted} is not ended ${ended} + in flight ${inFlight}`);
  if (ends.dead > 0) broken.push(`dead commands: ${ends.dead}`);
  return { accepted, ends: { ...ends, inFlight } };
}

/** Everything that a search without a filter finds, page by page. */
async function allOf<T>(ask: Told["ask"], path: string): Promise<readonly T[]> {
  const all: T[] = [];
  for (;;) {
    const { items, page } = await ask<Page<T>>(path, { page: { from: all.length, limit: PAGE } });
    all.push(...items);
    if (items.length === 0 || all.length >= page.totalItems) return all;
  }
}
