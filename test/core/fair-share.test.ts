import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { levelOf } from "../../src/core/fair-share.ts";
import { CommandQueue, type QueueEntry } from "../../src/core/queue.ts";
import { FAIR_MEMORY_MS, FAIR_REMEMBERED_MAX } from "../../src/core/recent-wants.ts";
import { WaitingRoom } from "../../src/core/waiting-room.ts";

const BYTES = 1_000_000_000;

/** A queue in which tenants offer and hold, at a time of the test's own. */
class World {
  readonly queue: CommandQueue;
  readonly held = new Map<string, number>();
  readonly admitted = new Map<string, number>();
  nowMs = 0;
  #next = 1;

  constructor(count: number, bytes = BYTES) {
    this.queue = new CommandQueue({ count, bytes });
  }

  offer(tenant: string, weight = 1, bytes = 1): QueueEntry | "full" | "over_share" {
    const candidate = { tenant, weight, bytes, critical: false, acceptedAtMs: this.nowMs };
    const answer = this.queue.offer(candidate, () => this.#next++, this.nowMs);
    if (typeof answer !== "string") {
      this.#count(this.held, tenant, 1);
      this.#count(this.admitted, tenant, 1);
    }
    if (this.queue.depth > this.queue.bounds.count) throw new Error("more than the bound");
    return answer;
  }

  /** Asks so often for what can not be had: it is heard of, and holds nothing. */
  ask(tenant: string, times: number, weight = 1): void {
    const candidate = { tenant, weight, bytes: this.queue.bounds.bytes + 1, critical: false, acceptedAtMs: this.nowMs };
    for (let n = 0; n < times; n++) expect(this.queue.offer(candidate, () => this.#next++, this.nowMs)).toBe("full");
  }

  /** Offers until refused, at most so often; gives how many were taken and the refusal. */
  fill(tenant: string, most = 10_000, weight = 1, bytes = 1): [taken: number, refusal: string | null] {
    for (let taken = 0; taken < most; taken++) {
      const answer = this.offer(tenant, weight, bytes);
      if (typeof answer === "string") return [taken, answer];
    }
    return [most, null];
  }

  /** Whether this tenant, of weight 1, would be taken. */
  readonly wouldTake = (tenant: string): boolean =>
    this.queue.refusalOf({ tenant, weight: 1, bytes: 1, critical: false, acceptedAtMs: 0 }, this.nowMs) === null;

  served(tenant: string): number {
    return (this.admitted.get(tenant) ?? 0) - (this.held.get(tenant) ?? 0);
  }

  take(times = 1): void {
    for (let n = 0; n < times; n++) {
      const entry = this.queue.take();
      if (entry !== undefined) this.#count(this.held, entry.tenant, -1);
    }
  }

  #count(map: Map<string, number>, tenant: string, by: number): void {
    map.set(tenant, (map.get(tenant) ?? 0) + by);
  }
}

describe("while the queue is not contended", () => {
  test("a tenant alone fills it to the bound, whatever its weight", () => {
    for (const weight of [1, 10]) expect(new World(100).fill("a", 1_000, weight)).toEqual([100, "full"]);
  });

  test("others who want a little leave it the rest, and find their room", () => {
    const world = new World(100);
    for (const name of ["b", "c", "d"]) world.offer(name);
    // Each of the three has one command waiting and has asked for one: room for one more of each is kept.
    expect(world.fill("a")).toEqual([94, "over_share"]);
    for (const name of ["b", "c", "d"]) expect(world.offer(name)).toMatchObject({ tenant: name });
    expect([world.queue.depth, world.offer("a"), world.offer("b")]).toEqual([100, "full", "full"]);
  });

  test("a tenant whose commands are all done keeps no room from others, also one that was refused, after a while", () => {
    const world = new World(100);
    world.offer("b");
    world.take();
    expect(world.fill("a")).toEqual([100, "full"]);
    world.take(50);
    world.ask("b", 10);
    expect(world.fill("a")).toEqual([39, "over_share"]);
    world.nowMs += FAIR_MEMORY_MS;
    expect(world.offer("a")).toBe("over_share");
    world.nowMs += FAIR_MEMORY_MS;
    expect(world.fill("a")).toEqual([11, "full"]);
  });

  test("one that was refused keeps its room while others are refused and it goes on sending, though nothing waits", () => {
    const world = new World(10);
    world.fill("a");
    expect(world.offer("b")).toBe("full");
    for (let span = 0; span < 20; span++) {
      world.nowMs += FAIR_MEMORY_MS;
      world.take();
      expect([world.fill("a")[1], world.fill("b", 1)]).toEqual(["over_share", [1, null]]);
      while ((world.held.get("b") ?? 0) > 0) world.take();
    }
    // Nobody is refused for a while: nobody lacks anything any more.
    for (let span = 0; span < 3; span++) {
      world.nowMs += FAIR_MEMORY_MS;
      world.take(10);
      expect(world.fill("b", 1)).toEqual([1, null]);
    }
    world.take(10);
    expect(world.fill("a")).toEqual([10, "full"]);
  });

  test.each([-100, 100])("a clock that jumps by %i spans forgets, and nobody is locked out", (spans) => {
    const world = new World(10);
    world.nowMs = 200 * FAIR_MEMORY_MS;
    world.fill("a");
    world.offer("b");
    world.take();
    expect(world.offer("a")).toBe("over_share");
    world.nowMs += spans * FAIR_MEMORY_MS;
    expect(world.offer("a")).toMatchObject({ tenant: "a" });
  });
});

describe("while it is contended", () => {
  test("who filled it before gets nothing more until it has come down to its share, and is not thrown out", () => {
    const world = new World(10);
    world.fill("a");
    for (let n = 0; n < 10; n++) world.offer("b");
    while ((world.held.get("a") ?? 0) > 5) {
      expect(world.offer("a")).toBe(world.queue.depth < 10 ? "over_share" : "full");
      world.take();
      expect(world.offer("b")).toMatchObject({ tenant: "b" });
    }
    expect([world.queue.depth, world.held.get("b"), world.admitted.get("a")]).toEqual([10, 5, 10]);
  });

  type Tenants = [name: string, weight: number][];
  test.each<[string, number, Tenants, Record<string, number>]>([
    [
      "two alike",
      100,
      [
        ["a", 1],
        ["b", 1],
      ],
      { a: 50, b: 50 },
    ],
    [
      "1 : 2 : 10",
      130,
      [
        ["a", 1],
        ["b", 2],
        ["c", 10],
      ],
      { a: 10, b: 20, c: 100 },
    ],
    [
      "a broken place goes to who comes first",
      10,
      [
        ["a", 1],
        ["b", 1],
        ["c", 1],
      ],
      { a: 4, b: 3, c: 3 },
    ],
    [
      "the least share is a place",
      4,
      [
        ["a", 100],
        ["b", 1],
      ],
      { a: 3, b: 1 },
    ],
  ])("shares: %s", (_label, bound, tenants, expected) => {
    const world = new World(bound);
    for (const [name, weight] of tenants) world.ask(name, bound, weight);
    for (const [name, weight] of tenants) world.fill(name, bound, weight);
    expect(Object.fromEntries(world.held)).toEqual(expected);
    expect(world.queue.depth).toBe(bound);
  });

  test("who wants less than its share leaves the rest to the others, by weight", () => {
    const world = new World(100);
    world.ask("a", 100);
    world.ask("b", 100, 3);
    world.ask("modest", 20, 1);
    for (const [name, weight] of [
      ["a", 1],
      ["b", 3],
    ] as const)
      world.fill(name, 100, weight);
    expect(Object.fromEntries(world.held)).toEqual({ a: 20, b: 60 });
    expect(world.fill("modest", 20)).toEqual([20, null]);
  });

  test("what comes free goes to the lowest first, also past one that is still within its share", () => {
    const world = new World(10);
    world.fill("rude");
    for (const name of ["b", "c"]) world.ask(name, 10);
    world.take();
    expect(world.offer("b")).toMatchObject({ tenant: "b" });
    world.take();
    expect([world.offer("b"), world.offer("c")]).toMatchObject(["over_share", { tenant: "c" }]);
  });

  test("a few large bodies are no way around it: the same holds for bytes", () => {
    const world = new World(1_000, 1_000);
    expect(world.fill("large", 100, 1, 100)).toEqual([10, "full"]);
    for (let n = 0; n < 50; n++) expect(world.offer("small", 1, 10)).toBe("full");
    world.take(2);
    expect(world.offer("large", 1, 100)).toBe("over_share");
    expect(world.fill("small", 1_000, 1, 10)).toEqual([20, "full"]);
  });

  test("a refusal changes nothing that waits and uses up no key", () => {
    const world = new World(4);
    world.fill("a");
    world.offer("b");
    world.take();
    expect(world.offer("a")).toBe("over_share");
    expect([world.queue.depth, world.queue.aheadOf(2), world.queue.aheadOf(4)]).toEqual([3, 0, 2]);
    expect(world.offer("b")).toMatchObject({ sequence: 5 });
  });

  test("critical commands know no shares, and take none", () => {
    const world = new World(2);
    world.fill("a");
    world.offer("b");
    const critical = { tenant: "a", weight: 1, bytes: 1, critical: true, acceptedAtMs: 0 };
    for (let n = 0; n < 9; n++) expect(world.queue.offer(critical, () => 100 + n, 0)).toMatchObject({ tenant: "a" });
    expect([world.queue.take()?.sequence, world.queue.depth]).toEqual([100, 2]);
  });

  test("what is remembered is bounded: a crowd of names leaves a known one its room", () => {
    const world = new World(10);
    world.fill("a");
    world.offer("b");
    for (let n = 0; n < 3 * FAIR_REMEMBERED_MAX; n++) world.offer(`crowd-${n}`);
    world.take();
    expect([world.offer("a"), world.offer("b")]).toMatchObject(["over_share", { tenant: "b" }]);
  });
});

interface Crowd {
  readonly world: World;
  readonly bound: number;
  readonly weights: readonly number[];
  readonly sum: number;
  /** Which of them filled the queue before the others came. */
  readonly rude: number;
}

const crowd = (weightMax: number): fc.Arbitrary<Crowd> =>
  fc
    .record({
      weights: fc.array(fc.integer({ min: 1, max: weightMax }), { minLength: 2, maxLength: 8 }),
      rounds: fc.integer({ min: 1, max: 3 }),
      extra: fc.nat(),
      first: fc.nat(),
    })
    .map(({ weights, rounds, extra, first }) => {
      const sum = weights.reduce((total, weight) => total + weight, 0);
      const bound = sum * rounds + (extra % sum);
      const rude = first % weights.length;
      const world = new World(bound);
      world.fill(`${rude}`, bound, weights[rude]);
      return { world, bound, weights, sum, rude };
    });

describe("over random tenants and weights, one of whom filled the queue before", () => {
  test("all come to hold their shares, and from then on each is served its share of any bound's worth of takes", () => {
    fc.assert(
      fc.property(crowd(6), fc.infiniteStream(fc.nat()), ({ world, bound, weights, sum, rude }, chance) => {
        const shares = weights.map((weight) => Math.floor((bound * weight) / sum));
        // In any order, over and over until nobody gets more.
        const everyoneOffers = () => {
          const from: number = chance.next().value % weights.length;
          for (let n = 0; n < weights.length; n++) {
            const at = (from + n) % weights.length;
            world.fill(`${at}`, bound, weights[at]);
          }
        };
        const holdsItsShare = (share: number, at: number) => (world.held.get(`${at}`) ?? 0) >= share;
        everyoneOffers();
        // What waits from before is served in its turns, so many rounds of the others.
        let takesLeft = Math.ceil((bound * sum) / (weights[rude] ?? 1));
        for (; takesLeft > 0 && !shares.every(holdsItsShare); takesLeft--) {
          world.take();
          everyoneOffers();
        }
        const before = weights.map((_, at) => world.served(`${at}`));
        for (let taken = 0; taken < bound; taken++) {
          world.take();
          everyoneOffers();
          if (!shares.every(holdsItsShare) || world.queue.depth < bound) throw new Error(`after ${taken} takes`);
        }
        weights.forEach((weight, at) => {
          // Less than a turn short: where a bound's worth of takes begins and ends is not where turns do.
          expect(world.served(`${at}`) - (before[at] ?? 0)).toBeGreaterThan((shares[at] ?? 0) - weight);
        });
      }),
    );
  });

  test("tenants alike who stand in line get their shares within one bound's worth of takes, or one less", () => {
    fc.assert(
      fc.property(crowd(1), ({ world, bound, weights, sum, rude }) => {
        const line = new WaitingRoom<string>(weights.length);
        const stand = (name: string) => line.enter({ token: name, tenant: name, what: name });
        const others = weights.map((_, at) => `${at}`).filter((name) => name !== `${rude}`);
        for (const name of others) world.ask(name, bound);
        for (const name of [`${rude}`, ...others]) stand(name);
        for (let taken = 0; taken < bound; taken++) {
          world.take();
          for (let next = line.next(world.wouldTake); next !== undefined; next = line.next(world.wouldTake)) {
            world.offer(next.what);
            stand(next.what);
          }
        }
        const share = Math.floor(bound / sum);
        for (const name of others) expect(world.admitted.get(name) ?? 0).toBeGreaterThanOrEqual(share - 1);
      }),
    );
  });
});

describe("the level", () => {
  const wants = fc.array(fc.record({ weight: fc.integer({ min: 1, max: 50 }), wanted: fc.nat(300) }), {
    maxLength: 12,
  });

  test("gives everyone what it wants or the level, and all together the bound", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 50 }),
        wants,
        (bound, weight, others) => {
          const { places, weights: parts } = levelOf(bound, weight, others);
          const level = places / parts;
          const given = others.map((other) => Math.min(other.wanted, level * other.weight));
          expect(given.reduce((sum, one) => sum + one, level * weight)).toBeCloseTo(bound, 6);
          const sum = others.reduce((total, other) => total + other.weight, weight);
          expect(level).toBeGreaterThanOrEqual(bound / sum - 1e-9);
        },
      ),
    );
  });
});
