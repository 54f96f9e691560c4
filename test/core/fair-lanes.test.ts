import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FairLanes } from "../../src/core/fair-lanes.ts";
import type { QueueEntry } from "../../src/core/queue.ts";

let sequence = 0;

function entry(tenant: string, weight = 1): QueueEntry {
  sequence += 1;
  return { sequence, tenant, weight, bytes: 1, critical: false, acceptedAtMs: sequence, deadlineAtMs: null };
}

function filled(...tenants: [name: string, count: number, weight?: number][]): FairLanes {
  const lanes = new FairLanes();
  for (const [name, count, weight] of tenants) for (let n = 0; n < count; n++) lanes.push(entry(name, weight));
  return lanes;
}

/** Whose commands are taken, in order, until nothing waits. */
function order(lanes: FairLanes, most = Number.POSITIVE_INFINITY): string {
  let names = "";
  for (let taken = 0; taken < most; taken++) {
    const next = lanes.shift();
    if (next === undefined) break;
    names += next.tenant;
  }
  return names;
}

describe("tenants take turns", () => {
  test.each<[string, [string, number, number?][], string]>([
    ["one alone takes them all", [["a", 4]], "aaaa"],
    [
      "of the same weight one by one",
      [
        ["a", 3],
        ["b", 3],
      ],
      "ababab",
    ],
    [
      "who has less is done earlier",
      [
        ["a", 4],
        ["b", 1],
        ["c", 2],
      ],
      "abcacaa",
    ],
    [
      "a turn is as many as the weight",
      [
        ["a", 3, 1],
        ["b", 5, 2],
      ],
      "abbabbab",
    ],
    [
      "1 : 2 : 10",
      [
        ["a", 2, 1],
        ["b", 4, 2],
        ["c", 20, 10],
      ],
      "abbccccccccccabbcccccccccc",
    ],
  ])("%s", (_label, tenants, expected) => {
    expect(order(filled(...tenants))).toBe(expected);
  });

  test("who comes later stands at the end of the round, also when its last command has just been taken", () => {
    const lanes = filled(["a", 3], ["b", 1], ["c", 2]);
    expect(order(lanes, 2)).toBe("ab");
    lanes.push(entry("b"));
    lanes.push(entry("d"));
    expect(order(lanes)).toBe("cabdca");
  });

  test("what a turn did not use is not saved up", () => {
    const lanes = filled(["a", 2, 5], ["b", 9, 1]);
    expect(order(lanes, 3)).toBe("aab");
    for (let n = 0; n < 7; n++) lanes.push(entry("a", 5));
    expect(order(lanes, 9)).toBe("baaaaabaa");
  });

  test("a new weight holds from the next turn on, and an older command that comes back brings none", () => {
    const lanes = filled(["a", 6, 1], ["b", 6, 1]);
    const [first] = lanes.sequences();
    const returned = { ...entry("a", 9), sequence: (first ?? 0) - 0.5 };
    lanes.push(entry("a", 3));
    lanes.push(returned);
    expect(order(lanes, 8)).toBe("abaaabaa");
  });

  test("a cancelled command gives no turn away, and the last one of a tenant ends it", () => {
    const lanes = filled(["a", 3], ["b", 3]);
    const [a1 = 0, a2 = 0, a3 = 0] = lanes.sequences();
    expect(lanes.remove(a2)?.sequence).toBe(a2);
    expect(lanes.remove(a2)).toBeUndefined();
    expect(order(lanes, 3)).toBe("aba");
    expect([lanes.remove(a1), lanes.remove(a3)]).toEqual([undefined, undefined]);
    expect([order(lanes), lanes.size, lanes.bytes]).toEqual(["bb", 0, 0]);
  });
});

const WEIGHTS = { a: 1, b: 2, c: 10, d: 3, e: 1 } as const;
const tenant = fc.constantFrom(...(Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[]));
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ op: fc.constant("push" as const), tenant }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("shift" as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("remove" as const), at: fc.nat(500) }) },
);

/** Lanes after random steps, and what waits in them. */
function played(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) {
  const lanes = new FairLanes();
  const waiting = new Map<number, QueueEntry>();
  const taken: QueueEntry[] = [];
  for (const one of steps) {
    if (one.op === "push") {
      const pushed = entry(one.tenant, WEIGHTS[one.tenant]);
      lanes.push(pushed);
      waiting.set(pushed.sequence, pushed);
    } else if (one.op === "shift") {
      const next = lanes.shift();
      expect(next === undefined).toBe(waiting.size === 0);
      if (next !== undefined) {
        waiting.delete(next.sequence);
        taken.push(next);
      }
    } else {
      const victim = [...waiting.keys()][one.at % Math.max(1, waiting.size)] ?? -1;
      expect(lanes.remove(victim)).toEqual(waiting.get(victim));
      waiting.delete(victim);
    }
    expect(lanes.size).toBe(waiting.size);
  }
  return { lanes, waiting, taken };
}

describe("over random comings, takings and cancellations", () => {
  const steps = fc.array(step, { maxLength: 300 });

  test("the place in the line is exactly how many are taken before, and whatever waits is taken", () => {
    fc.assert(
      fc.property(steps, (given) => {
        const { lanes, waiting } = played(given);
        const told = new Map([...waiting.keys()].map((one) => [one, lanes.aheadOf(one)]));
        expect(lanes.aheadOf(-1)).toBeNull();
        for (let place = 0; place < waiting.size; place++) {
          const next = lanes.shift();
          expect(next === undefined ? undefined : told.get(next.sequence)).toBe(place);
        }
        expect([lanes.shift(), lanes.bytes]).toEqual([undefined, 0]);
      }),
    );
  });

  test("within a tenant the order is that of arrival", () => {
    fc.assert(
      fc.property(steps, (given) => {
        const { taken } = played(given);
        for (const name of Object.keys(WEIGHTS)) {
          const own = taken.filter((one) => one.tenant === name).map((one) => one.sequence);
          expect(own).toEqual([...own].sort((a, b) => a - b));
        }
      }),
    );
  });

  test("while tenants have enough, any stretch of takes is shared by weight, to within a turn", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.nat(100), fc.integer({ min: 1, max: 300 }), (given, skip, stretch) => {
        const lanes = filled(...given.map((weight, n): [string, number, number] => [`${n}`, 500, weight]));
        for (let n = 0; n < skip; n++) lanes.shift();
        const counts = given.map(() => 0);
        for (let n = 0; n < stretch; n++) {
          const at = Number(lanes.shift()?.tenant);
          counts[at] = (counts[at] ?? 0) + 1;
        }
        const sum = given.reduce((total, weight) => total + weight, 0);
        given.forEach((weight, n) => {
          expect(Math.abs((counts[n] ?? 0) - (stretch * weight) / sum)).toBeLessThanOrEqual(weight);
        });
      }),
    );
  });

  test("nobody starves: a command is taken within its rank of rounds, whatever comes after it", () => {
    const crowd = fc.array(tenant, { maxLength: 60 });
    fc.assert(
      fc.property(crowd, fc.infiniteStream(tenant), (before, after) => {
        const lanes = new FairLanes();
        for (const name of before) lanes.push(entry(name, WEIGHTS[name]));
        const mine = entry("mine");
        lanes.push(mine);
        const round = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);
        let takes = 1;
        while (lanes.shift() !== mine) {
          for (let n = 0; n < 3; n++) {
            const { value: name } = after.next();
            lanes.push(entry(name, WEIGHTS[name as keyof typeof WEIGHTS]));
          }
          takes += 1;
        }
        expect(takes).toBeLessThanOrEqual(round + 1);
      }),
    );
  });
});
