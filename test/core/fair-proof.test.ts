import { describe, expect, test } from "vitest";
import { CommandQueue } from "../../src/core/queue.ts";

// The two proofs, in virtual time: forty tenants and an engine that serves a third of what they send; and one tenant
// that floods. Nothing is random: each tenant sends at its own rate in bursts and pauses, the engine takes at an even one.

interface Sender {
  readonly name: string;
  readonly weight: number;
  readonly perSecond: number;
  /** When it begins to send, in seconds. */
  readonly from: number;
}

interface Figures {
  offered: number;
  admitted: number;
  served: number;
  refused: number;
  /** From acceptance to its turn, the longest, in seconds. */
  longestWait: number;
}

const NOTHING: Figures = { offered: 0, admitted: 0, served: 0, refused: 0, longestWait: 0 };

interface Run {
  readonly of: ReadonlyMap<string, Figures>;
  readonly served: number;
  readonly peakDepth: number;
}

/** Between one command of a tenant and the next, as parts of its even distance; on average 1. */
const BURSTS = [0.1, 2.7, 0.4, 1.5, 0.3];
const EVEN = [1];

interface Engine {
  readonly perSecond: number;
  readonly bound: number;
}

/** Sends and serves for so long; counts from `countFrom` on, so that the filling of an empty queue is not counted. */
function run(
  senders: readonly Sender[],
  engine: Engine,
  until: number,
  countFrom = 0,
  gaps: readonly number[] = BURSTS,
): Run {
  const queue = new CommandQueue({ count: engine.bound, bytes: 1_000_000_000 });
  const of = new Map(senders.map(({ name }) => [name, { ...NOTHING }]));
  const figures = (name: string): Figures => of.get(name) ?? { ...NOTHING };
  const due = senders.map(({ from, perSecond }, n) => from + (n + 1) / senders.length / perSecond);
  const sent = senders.map(() => 0);
  let sequence = 0;
  let serveAt = 1 / engine.perSecond;
  for (;;) {
    const sendAt = Math.min(...due);
    const now = Math.min(sendAt, serveAt);
    if (now > until) break;
    const counted = now >= countFrom ? 1 : 0;
    if (serveAt <= sendAt) {
      serveAt += 1 / engine.perSecond;
      const entry = queue.take();
      if (entry === undefined) continue;
      const own = figures(entry.tenant);
      own.served += counted;
      if (counted === 1) own.longestWait = Math.max(own.longestWait, now - entry.acceptedAtMs / 1000);
      continue;
    }
    const at = due.indexOf(sendAt);
    const sender = senders[at];
    if (sender === undefined) break;
    due[at] = sendAt + (gaps[(at + (sent[at] ?? 0)) % gaps.length] ?? 1) / sender.perSecond;
    sent[at] = (sent[at] ?? 0) + 1;
    const { name: tenant, weight } = sender;
    const candidate = { tenant, weight, bytes: 100, critical: false, acceptedAtMs: now * 1000, deadlineAtMs: null };
    const refused = typeof queue.offer(candidate, () => ++sequence, now * 1000) === "string";
    const own = figures(tenant);
    own.offered += counted;
    if (refused) own.refused += counted;
    else own.admitted += counted;
  }
  return { of, served: [...of.values()].reduce((sum, { served }) => sum + served, 0), peakDepth: queue.peakDepth };
}

/** How far each is from its share of what was served, the furthest, as a part of that share. */
function furthest(senders: readonly Sender[], { of, served }: Run, what: "admitted" | "served"): number {
  const sum = senders.reduce((total, { weight }) => total + weight, 0);
  return Math.max(
    ...senders.map(({ name, weight }) => {
      const share = (served * weight) / sum;
      return Math.abs((of.get(name)?.[what] ?? 0) - share) / share;
    }),
  );
}

/** Forty tenants; each sends between half as much again and four and a half times its share, all together three times. */
function forty(weightOf: (n: number) => number, engineRate: number): Sender[] {
  const weights = Array.from({ length: 40 }, (_, n) => weightOf(n));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight, n) => {
    const share = (engineRate * weight) / sum;
    return { name: `t${n}`, weight, perSecond: share * (1.5 + (3 * Math.floor(n / 4)) / 9), from: 0 };
  });
}

describe("forty tenants and an engine that serves a third of them", () => {
  const ENGINE = { perSecond: 100, bound: 2_000 };

  test.each<[string, (n: number) => number, number]>([
    ["all alike", () => 1, ENGINE.bound],
    ["twenty free, ten standard, ten premium", (n) => [1, 2, 1, 10][n % 4] ?? 1, ENGINE.bound],
    ["all alike, and five places each", () => 1, 200],
  ])("%s: each is admitted and served its share of what was served, within a tenth", (_label, weightOf, bound) => {
    const senders = forty(weightOf, ENGINE.perSecond);
    const sent = senders.reduce((sum, { perSecond }) => sum + perSecond, 0);
    expect(sent / ENGINE.perSecond).toBeCloseTo(3, 6);
    const done = run(senders, { ...ENGINE, bound }, 300, 60);
    expect(done.served).toBeGreaterThanOrEqual(240 * ENGINE.perSecond - 1);
    expect(done.peakDepth).toBeLessThanOrEqual(bound);
    expect(furthest(senders, done, "admitted")).toBeLessThanOrEqual(0.1);
    expect(furthest(senders, done, "served")).toBeLessThanOrEqual(0.1);
  });
});

describe("one tenant that floods", () => {
  const ENGINE = { perSecond: 100, bound: 400 };
  const SECONDS = 240;
  // 39 within their shares (100 ÷ 40 = 2.5 a second each), and one that sends fifty times as much as each of them.
  const others = Array.from({ length: 39 }, (_, n) => ({ name: `t${n}`, weight: 1, perSecond: 2, from: 0 }));
  const flood: Sender = { name: "flood", weight: 1, perSecond: 100, from: 0 };

  const figuresOf = ({ of }: Run) => others.map(({ name }) => of.get(name) ?? NOTHING);
  const total = (figures: readonly Figures[], what: keyof Figures) => figures.reduce((sum, one) => sum + one[what], 0);

  // That others want places is known from the first that is refused; the flood may fill the queue again when none was
  // for as long as that is remembered.
  test.each<[string, readonly number[], number, number]>([
    ["at even rates", EVEN, 1, (others.length + 1) / ENGINE.perSecond],
    ["in bursts", BURSTS, 7, (3 * (others.length + 1)) / ENGINE.perSecond],
  ])("leaves the others fully served: %s", (_label, gaps, refusedMax, waitMax) => {
    const done = run([...others, flood], ENGINE, SECONDS, 0, gaps);
    for (const own of figuresOf(done)) {
      expect(own.refused).toBeLessThanOrEqual(refusedMax);
      // Two may be on their way at the end.
      expect(own.offered - own.refused - own.served).toBeLessThanOrEqual(2);
      expect(own.longestWait).toBeLessThanOrEqual(waitMax + 0.01);
    }
    expect(total(figuresOf(done), "refused") / total(figuresOf(done), "offered")).toBeLessThan(0.005);
    // What they leave is the flood's, of the engine, which is never idle, and of the queue.
    expect(done.served).toBeGreaterThanOrEqual(SECONDS * ENGINE.perSecond - 10);
    expect(done.peakDepth).toBeGreaterThan(0.9 * ENGINE.bound);
    expect(done.of.get("flood")?.served).toBeGreaterThanOrEqual(SECONDS * (ENGINE.perSecond - 78) - 50);
  });

  test("that had the queue to itself before they came gives them room as fast as it is served", () => {
    const late = others.map((sender) => ({ ...sender, from: 60 }));
    const done = run([...late, { ...flood, perSecond: 400 }], ENGINE, SECONDS);
    expect(done.peakDepth).toBe(ENGINE.bound);
    for (const own of figuresOf(done)) expect(own.refused).toBeLessThanOrEqual(4);
    expect(total(figuresOf(done), "refused") / total(figuresOf(done), "offered")).toBeLessThan(0.005);
  });
});
