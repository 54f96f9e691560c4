import { describe, expect, test } from "vitest";
import {
  type Bounds,
  fullForMs,
  GATE_INTERVAL_MS,
  type GateState,
  gate,
  givenBack,
  HEALTHY,
  heard,
  type Pass,
  scarceRoom,
} from "../../src/core/depth-gate.ts";

const T0 = 1_700_000_000_000;
const full = { limit: "queue_full", room: 0, retryAfterSeconds: 8, places: null, lastsMs: 60_000 } as const;

describe("the gate at the edge", () => {
  test("lets everything pass before it has heard anything: unknown is not full", () => {
    expect(gate(undefined, T0).verdict).toBe("pass");
  });

  test("refuses with the engine's own reason and time while it is full", () => {
    expect(gate(heard(full, T0), T0 + 500)).toEqual({ verdict: "refuse", code: "queue_full", health: full });
  });

  test("lets exactly one probe through per interval, however many ask", () => {
    let state = heard(full, T0);
    let passed = 0;
    for (let ms = 0; ms < 10 * GATE_INTERVAL_MS; ms++) {
      const verdict = gate(state, T0 + ms);
      if (verdict.verdict === "refuse") continue;
      passed += 1;
      if (verdict.next !== undefined) state = verdict.next;
    }
    expect(passed).toBe(9);
  });

  test("stays shut for requests that took their time before the answer was heard", () => {
    let state = heard(full, T0 + 100);
    let passed = 0;
    for (let n = 0; n < 1_000; n++) {
      const verdict = gate(state, T0 + (n % 200));
      if (verdict.verdict === "refuse") continue;
      passed += 1;
      if (verdict.next !== undefined) state = verdict.next;
    }
    expect(passed).toBe(0);
  });

  test("refuses no longer than the engine will be full: a fast one must not stand idle", () => {
    expect(fullForMs(200, 250)).toBe(80);
    expect(fullForMs(10_000, 1)).toBe(GATE_INTERVAL_MS);
    expect(fullForMs(10, 10_000)).toBe(20);
    const state = heard({ ...full, lastsMs: fullForMs(200, 250) }, T0);
    expect([gate(state, T0 + 79).verdict, gate(state, T0 + 80).verdict]).toEqual(["refuse", "pass"]);
  });

  test("opens with the first answer that says there is room", () => {
    expect(passes(heard(HEALTHY, T0), [T0 + 1, T0 + 1, T0 + 1])).toBe(3);
  });

  test("with room for three lets three through, and no more until it hears again", () => {
    const scarce = { ...full, room: 3, lastsMs: 80 };
    const atOnce = Array.from({ length: 50 }, (_, n) => T0 + n);
    expect(passes(heard(scarce, T0), atOnce)).toBe(3);
    expect(
      passes(
        heard({ ...scarce, room: 2 }, T0 + 50),
        atOnce.map((ms) => ms + 50),
      ),
    ).toBe(2);
  });

  test("takes what it heard to hold on, when nothing is heard: traffic that trickles is never refused", () => {
    const scarce = heard({ ...full, room: 2, lastsMs: 80 }, T0);
    const pairs = Array.from({ length: 40 }, (_, n) => T0 + 100 * Math.floor(n / 2));
    expect(passes(scarce, pairs)).toBe(40);
  });

  test("what a command was given that did not go on is the next one's: room, or its turn as a probe", () => {
    const pass = (from: GateState, ms: number): Pass => {
      const verdict = gate(from, ms);
      if (verdict.verdict === "refuse") throw new Error("it was to pass");
      return { from, to: verdict.next };
    };
    const scarce = heard({ ...full, room: 1, lastsMs: 80 }, T0);
    const used = pass(scarce, T0);
    expect(gate(used.to, T0).verdict).toBe("refuse");
    expect(gate(givenBack(used.to, used), T0).verdict).toBe("pass");
    const probe = pass(heard(full, T0), T0 + 1_000);
    expect(gate(probe.to, T0 + 1_001).verdict).toBe("refuse");
    expect(gate(givenBack(probe.to, probe), T0 + 1_001).verdict).toBe("pass");
    // Others have passed meanwhile, or something was heard.
    const two = heard({ ...full, room: 2, lastsMs: 80 }, T0);
    const first = pass(two, T0);
    const second = first.to && pass(first.to, T0);
    expect(givenBack(second?.to, first)).toEqual({ ...two, passed: 1 });
    const news = heard(full, T0 + 1);
    expect(givenBack(news, first)).toBe(news);
  });

  test("a burst after a quiet while is not measured by room that nobody has used up since", () => {
    const scarce = heard({ ...full, room: 2, lastsMs: 80 }, T0);
    const burst = Array.from({ length: 50 }, () => T0 + 80);
    expect(passes(scarce, burst)).toBe(50);
  });

  test("knows nothing after two seconds in which nobody asked", () => {
    const burst = (ms: number) => Array.from({ length: 50 }, () => T0 + ms);
    expect([passes(heard(full, T0), burst(1_999)), passes(heard(full, T0), burst(2_000))]).toEqual([1, 50]);
  });

  test("a clock that steps back does not keep it shut", () => {
    expect(gate(heard(full, T0), T0 - 5_000).verdict).toBe("pass");
  });
});

/** How many of these commands, each at its time, go on to an engine of which nothing more is heard. */
function passes(state: GateState, atMs: readonly number[]): number {
  let now: GateState | undefined = state;
  let passed = 0;
  for (const ms of atMs) {
    const verdict = gate(now, ms);
    if (verdict.verdict === "refuse") continue;
    passed += 1;
    now = verdict.next;
  }
  return passed;
}

describe("how much room an engine has", () => {
  const bounds: Bounds = { queueRoom: 100, seats: 0, waiting: 0, limit: null, inFlight: 0, places: 100 };

  test.each([
    ["nobody counts while more than half is free", { queueRoom: 51, waiting: 49 }, null],
    ["half is worth counting", { queueRoom: 50, waiting: 50 }, { code: "queue_full", room: 50, ahead: 100 }],
    [
      "the limit in flight, where it is met first",
      { limit: 20, inFlight: 17, places: 20 },
      { code: "request_limit", room: 3, ahead: 20 },
    ],
    [
      "the queue, where that is met first",
      { queueRoom: 2, waiting: 98, limit: 200, inFlight: 98 },
      { code: "queue_full", room: 2, ahead: 100 },
    ],
    [
      "the queue, and seats in the line for it",
      { queueRoom: 2, seats: 7, waiting: 98 },
      { code: "queue_full", room: 9, ahead: 100 },
    ],
    [
      "one, for an engine that refuses nobody yet",
      { queueRoom: 0, waiting: 100 },
      { code: "queue_full", room: 1, ahead: 101 },
    ],
    [
      "whole commands, of a limit that is not",
      { limit: 10.9, inFlight: 8, places: 10.9 },
      { code: "request_limit", room: 2, ahead: 10 },
    ],
  ])("%s", (_, part, expected) => {
    expect(scarceRoom({ ...bounds, ...part })).toEqual(expected);
  });
});
