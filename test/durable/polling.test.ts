import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HEALTHY } from "../../src/core/depth-gate.ts";
import { type CommandWay, Polling } from "../../src/durable/polling.ts";
import type { Submission, Submitted } from "../../src/durable/submission.ts";

// How long a poll is held and who is woken, on virtual time, over an engine of a few lines.

const T0 = Date.UTC(2027, 0, 1);

beforeEach(() => {
  vi.useFakeTimers({ now: T0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Jobs of one type, by when they become available; each activation takes one, and may take its time. */
class Engine implements CommandWay {
  jobs: number[] = [];
  takesMs = 0;
  activations = 0;
  readonly cancelled: string[] = [];
  readonly polling = new Polling(
    { nextJobMs: () => (this.jobs.length === 0 ? null : Math.min(...this.jobs)) },
    { health: () => HEALTHY },
    this,
  );
  readonly #waits = new Map<string, () => void>();

  async submit({ token }: Submission): Promise<Submitted> {
    const commandId = `${token}#${++this.activations}`;
    const command = { ...VIEW, commandId };
    if (this.takesMs > 0) return accepted(command);
    return accepted({ ...command, ...this.#take() });
  }

  async command(_tenant: string, commandId: string, waitMs: number, token: string) {
    const ends = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(true), Math.min(waitMs, this.takesMs));
      this.#waits.set(token, () => {
        clearTimeout(timer);
        resolve(false);
      });
    });
    return ends ? { ...VIEW, commandId, ...this.#take() } : { ...VIEW, commandId };
  }

  cancel(_tenant: string, commandId: string): void {
    this.cancelled.push(commandId);
  }

  leave(token: string): void {
    this.polling.leave(token);
    this.#waits.get(token)?.();
  }

  /** A job is there, and is said to be. */
  add(): void {
    this.jobs.push(Date.now());
    this.polling.available([{ tenant: "a", type: "pay" }]);
  }

  #take() {
    const at = this.jobs.findIndex((dueMs) => dueMs <= Date.now());
    const jobs = at < 0 ? [] : this.jobs.splice(at, 1);
    return { state: "succeeded" as const, finishedAt: "now", result: JSON.stringify({ jobs }) };
  }
}

const VIEW = { commandId: "", intent: "JOB:ACTIVATE", state: "queued" as const, attempts: 0, acceptedAt: "now" };

function accepted(command: Extract<Submitted, { kind: "accepted" }>["command"]): Submitted {
  return { kind: "accepted", command, deferred: false, health: HEALTHY, lastToldSeconds: null, latenciesMs: [] };
}

/** Polls, and says in the log who got what and when. */
function pollersOf(engine: Engine) {
  const log: string[] = [];
  const poll = (token: string, holdMs: number) => {
    const submission = { tenant: "a", token } as Submission;
    void engine.polling.poll({ submission, type: "pay", holdMs }).then((told) => {
      log.push(`${token} ${told.kind} ${Date.now() - T0}`);
    });
  };
  return { log, poll, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
}

describe("a poll", () => {
  test("with a job there is answered at once, and without is held for its time", async () => {
    const engine = new Engine();
    const { log, poll, pass } = pollersOf(engine);
    engine.add();
    poll("first", 10_000);
    poll("second", 10_000);
    poll("never held", 0);
    await pass(9_999);
    expect(log.toSorted()).toEqual(["first accepted 0", "never held nothing 0"]);
    await pass(1);
    expect(log.slice(2)).toEqual(["second nothing 10000"]);
    expect(engine.activations).toBe(1);
  });

  test("one job wakes one; a job that nobody announces is found when it is due", async () => {
    const engine = new Engine();
    const { log, poll, pass } = pollersOf(engine);
    for (const token of ["a", "b", "c"]) poll(token, 30_000);
    await pass(1_000);
    engine.add();
    await pass(0);
    expect(log).toEqual(["a accepted 1000"]);
    // A lease that runs out in 5 s: the next poll that is held is there for it.
    engine.jobs.push(Date.now() + 5_000);
    poll("d", 30_000);
    await pass(10_000);
    expect(log.slice(1)).toEqual(["b accepted 6000"]);
    expect(engine.activations).toBe(2);
  });

  test("that comes later does not go before those that wait", async () => {
    const engine = new Engine();
    engine.takesMs = 1_000;
    const { log, poll, pass } = pollersOf(engine);
    poll("old", 30_000);
    await pass(0);
    engine.jobs.push(Date.now());
    poll("new", 30_000);
    await pass(2_000);
    expect(log).toEqual(["old accepted 1000"]);
  });

  test("that gets nothing after all keeps its place, and many jobs are handed out one after the other", async () => {
    const engine = new Engine();
    engine.takesMs = 100;
    const { log, poll, pass } = pollersOf(engine);
    for (const token of ["a", "b", "c"]) poll(token, 30_000);
    await pass(0);
    engine.add();
    engine.add();
    // Somebody else takes one of the two.
    engine.jobs.pop();
    await pass(1_000);
    expect(log).toEqual(["a accepted 100"]);
    engine.add();
    await pass(100);
    expect(log.slice(1)).toEqual(["b accepted 1100"]);
  });

  test("whose caller goes while its activation waits takes it back, and the next one gets the job", async () => {
    const engine = new Engine();
    engine.takesMs = 1_000;
    const { log, poll, pass } = pollersOf(engine);
    poll("gone", 30_000);
    poll("next", 30_000);
    await pass(0);
    engine.add();
    await pass(500);
    engine.leave("gone");
    await pass(2_000);
    expect(engine.cancelled).toEqual(["gone#1"]);
    expect(log).toEqual(["gone nothing 500", "next accepted 1500"]);
  });

  test("does not fill the disk with commands where a job is said to be there and is not", async () => {
    const engine = new Engine();
    const { log, poll, pass } = pollersOf(engine);
    vi.spyOn(engine, "submit").mockImplementation(async () => {
      engine.activations += 1;
      return accepted({ ...VIEW, state: "succeeded", finishedAt: "now", result: JSON.stringify({ jobs: [] }) });
    });
    engine.jobs.push(T0);
    poll("a", 10_000);
    poll("b", 10_000);
    await pass(10_000);
    expect(log.toSorted()).toEqual(["a nothing 10000", "b nothing 10000"]);
    expect(engine.activations).toBeLessThanOrEqual(2 + 10_000 / 50);
  });

  test("of one tenant too many is refused, not answered with nothing", async () => {
    const engine = new Engine();
    const { log, poll, pass } = pollersOf(engine);
    for (let n = 0; n < 1_000; n++) poll(String(n), 10_000);
    poll("one more", 10_000);
    await pass(0);
    expect(log).toEqual(["one more refused 0"]);
  });
});
