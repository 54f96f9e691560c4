import { pause } from "../../../src/cli/tool.ts";
import { checkBooks } from "./killed-books.ts";
import { temporaryFolder } from "./process.ts";
import { RestartingGateway } from "./restarting-gateway.ts";

/**
 * Instances of a process of five service tasks, worked on by patient clients while the gateway is killed again and
 * again; and at the end what the engine says of them. What must not happen is work that is lost or done twice.
 */

export const TASKS = ["take", "check", "pay", "pack", "ship"] as const;
export const PROCESS = "order";

export interface KilledFigures {
  readonly instances: number;
  readonly kills: number;
  readonly seconds: number;
  /** Requests that were sent once more. */
  readonly repeats: number;
  /** Instances that had been created when they were asked for once more. */
  readonly replays: number;
  /** Leases whose jobs nobody ever heard of: the answer died with the gateway. */
  readonly lostLeases: number;
  readonly accepted: number;
  /** How the accepted commands ended, by state. */
  readonly ends: Readonly<Record<string, number>>;
  /** What should not be so, in words. */
  readonly broken: readonly string[];
}

const KEY = { Authorization: "Bearer hg_dev_premium" };
const ADMIN = { Authorization: "Bearer dev-admin" };
/** Few, so that instances are still being created while others are worked on. */
const CREATORS = 4;
const POLLERS_PER_TASK = 2;
const JOBS_PER_POLL = 8;
/**
 * Longer than any run: the engine knows a completed job for as long as its lease would have lasted, and at the end it is
 * asked for all of them. What is lost with an answer is therefore given back by hand.
 */
const LEASE_MS = 3_600_000;
/** An answer with jobs is here long before that. */
const LOST_AFTER_MS = 1_000;
const HOLD_MS = 500;
const WATCH_MS = 250;
/** A run takes some milliseconds an instance, and some seconds a start. */
const limitMs = (count: number, kills: number) => 60_000 + count * 100 + kills * 20_000;

/**
 * @param count how many instances
 * @param kills how often the gateway dies, spread evenly over the work
 * @param interrupted ends the run early, with an error
 */
export async function runKilledInstances(
  count: number,
  kills: number,
  interrupted: AbortSignal = new AbortController().signal,
): Promise<KilledFigures> {
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(limitMs(count, kills))]);
  const { folder, remove } = await temporaryFolder();
  const gateway = new RestartingGateway(folder, signal);
  try {
    await prepare(gateway);
    const began = performance.now();
    const work = new Work(gateway, count, kills, signal);
    await work.run();
    const seconds = (performance.now() - began) / 1000;
    const { lostLeases, created } = work;
    const { repeats, replays } = gateway;
    const books = await checkBooks({ ask: (path, body) => ask(gateway, path, body), created, tasks: TASKS });
    const broken = gateway.kills === kills ? books.broken : [`killed ${gateway.kills} times`, ...books.broken];
    return { ...books, instances: count, kills, seconds, repeats, replays, lostLeases, broken };
  } finally {
    await gateway.stop().finally(remove);
  }
}

async function prepare(gateway: RestartingGateway): Promise<void> {
  const form = new FormData();
  form.append("resources", fiveTasks());
  const basic = `Basic ${btoa("demo-premium:hg_dev_premium")}`;
  const headers = { Authorization: basic };
  const deployed = await fetch(`${await gateway.url()}/v2/deployments`, { method: "POST", headers, body: form });
  if (deployed.status !== 200) throw new Error(`the deployment was answered with ${deployed.status}`);
  await deployed.arrayBuffer();
  const body = JSON.stringify({ requestsPerSecond: 100_000, burstSize: 1_000_000 });
  const path = "/admin/tenants/demo-premium/limits";
  const lifted = await gateway.send({ method: "PUT", path, headers: ADMIN, body });
  if (lifted.status >= 300) throw new Error(`the limits were answered with ${lifted.status}`);
}

/** Sends JSON, or reads when there is none to send. @throws for an answer that is a refusal for good */
async function ask<T>(
  gateway: RestartingGateway,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const call =
    body === undefined ? { method: "GET" as const } : { method: "POST" as const, body: JSON.stringify(body) };
  const { status, text } = await gateway.send({ ...call, path, headers: { ...KEY, ...headers } });
  if (status >= 300) throw new Error(`${path} was answered with ${status}: ${text}`);
  const answer: T = JSON.parse(text || "null");
  return answer;
}

interface Job {
  readonly jobKey: string;
}

interface Found {
  readonly items: readonly Job[];
  readonly page: { readonly totalItems: number };
}

class Work {
  readonly #gateway: RestartingGateway;
  readonly #count: number;
  readonly #kills: number;
  readonly #signal: AbortSignal;
  /** Jobs that a worker here has heard of and not completed yet. */
  readonly #held = new Set<string>();
  /** The key of each instance by its business id. */
  readonly created = new Map<string, string>();
  lostLeases = 0;
  #next = 0;
  #steps = 0;
  #over = false;

  constructor(gateway: RestartingGateway, count: number, kills: number, signal: AbortSignal) {
    this.#gateway = gateway;
    this.#count = count;
    this.#kills = kills;
    this.#signal = signal;
  }

  /** @returns once all instances have been created and none is active any more */
  async run(): Promise<void> {
    const workers = TASKS.flatMap((type) => Array.from({ length: POLLERS_PER_TASK }, () => this.#work(type)));
    const creators = Array.from({ length: CREATORS }, () => this.#create());
    const all = [...creators, ...workers, this.#watch()];
    try {
      await Promise.all(all);
    } finally {
      this.#over = true;
      await Promise.allSettled(all);
    }
  }

  /** One more thing was acknowledged; at even distances it is the last one before the next kill. */
  #stepped(): void {
    this.#steps += 1;
    const due = ((this.#gateway.kills + 1) * this.#count * (TASKS.length + 1)) / (this.#kills + 1);
    if (this.#gateway.kills < this.#kills && this.#steps >= due) this.#gateway.killAndStart();
  }

  async #create(): Promise<void> {
    while (this.#next < this.#count && !this.#over) {
      const businessId = `order-${this.#next++}`;
      const body = { processDefinitionId: PROCESS, businessId, variables: { businessId } };
      const named = { "Idempotency-Key": businessId };
      const made = await ask<{ processInstanceKey: string }>(this.#gateway, "/v2/process-instances", body, named);
      this.created.set(businessId, made.processInstanceKey);
      this.#stepped();
    }
  }

  async #work(type: string): Promise<void> {
    const poll = { type, timeout: LEASE_MS, maxJobsToActivate: JOBS_PER_POLL, requestTimeout: HOLD_MS };
    while (!this.#over) {
      const { jobs } = await ask<{ jobs: readonly Job[] }>(this.#gateway, "/v2/jobs/activation", poll);
      for (const { jobKey } of jobs) this.#held.add(jobKey);
      await Promise.all(jobs.map(({ jobKey }) => this.#complete(type, jobKey)));
    }
  }

  async #complete(type: string, jobKey: string): Promise<void> {
    await ask(this.#gateway, `/v2/jobs/${jobKey}/completion`, { variables: { [type]: jobKey } });
    this.#held.delete(jobKey);
    this.#stepped();
  }

  /** Gives lost jobs back, and sees when the work is over. */
  async #watch(): Promise<void> {
    const search = { filter: { state: "ACTIVE" }, page: { limit: 0 } };
    while (!this.#over) {
      await pause(WATCH_MS, this.#signal);
      const areCreated = this.created.size === this.#count;
      const { page } = await ask<Found>(this.#gateway, "/v2/process-instances/search", search);
      if (areCreated && page.totalItems === 0) this.#over = true;
      else await this.#giveBackLost();
    }
  }

  /** Leases that began a while ago, of jobs that nobody here has heard of. */
  async #giveBackLost(): Promise<void> {
    const before = new Date(Date.now() + LEASE_MS - LOST_AFTER_MS).toISOString();
    const filter = { state: "CREATED", deadline: { $lt: before } };
    const { items } = await ask<Found>(this.#gateway, "/v2/jobs/search", { filter, page: { limit: 1000 } });
    for (const { jobKey } of items.filter((job) => !this.#held.has(job.jobKey))) {
      // Its lease ends in a millisecond, and the next poll gets it.
      const command = { intent: "JOB:UPDATE", payload: { jobKey, timeoutSeconds: 0.001 } };
      const ended = await ask<{ state: string }>(this.#gateway, "/v1/commands", command, { Prefer: "wait=10" });
      if (ended.state === "succeeded") this.lostLeases += 1;
    }
  }
}

function fiveTasks(): File {
  const nodes = ["start", ...TASKS, "end"];
  const flows = nodes
    .slice(1)
    .map((to, n) => `<bpmn:sequenceFlow id="f${n}" sourceRef="${nodes[n]}" targetRef="${to}" />`);
  const tasks = TASKS.map(
    (type) => `<bpmn:serviceTask id="${type}">
      <bpmn:extensionElements><zeebe:taskDefinition type="${type}" /></bpmn:extensionElements>
    </bpmn:serviceTask>`,
  );
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="definitions" targetNamespace="http://headgate.test">
  <bpmn:process id="${PROCESS}" isExecutable="true">
    <bpmn:startEvent id="start" />
    ${[...tasks, ...flows].join("\n    ")}
    <bpmn:endEvent id="end" />
  </bpmn:process>
</bpmn:definitions>`;
  return new File([xml], `${PROCESS}.bpmn`, { type: "text/xml" });
}
