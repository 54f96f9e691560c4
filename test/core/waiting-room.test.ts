import { describe, expect, test } from "vitest";
import { WaitingRoom } from "../../src/core/waiting-room.ts";

interface Call {
  readonly name: string;
  readonly bytes: number;
}

/** A room in which these wait, in this order: tenant and number, such as "a1". */
function roomOf(names: readonly string[], seats = 9): WaitingRoom<Call> {
  const room = new WaitingRoom<Call>(seats);
  for (const name of names) enter(room, name);
  return room;
}

function enter(room: WaitingRoom<Call>, name: string, bytes = 1): boolean {
  return room.enter({ token: name, tenant: name.slice(0, 1), what: { name, bytes } });
}

/** Everyone who is served, in order, when only these are. */
function served(room: WaitingRoom<Call>, wouldTake: (call: Call) => boolean): string[] {
  const names: string[] = [];
  for (let next = room.next(wouldTake); next !== undefined; next = room.next(wouldTake)) names.push(next.what.name);
  return names;
}

describe("a waiting room", () => {
  test("has so many seats and no more, and one seat per token", () => {
    const room = new WaitingRoom<Call>(2);
    expect(["a1", "a1", "b1", "c1"].map((name) => enter(room, name))).toEqual([true, false, true, false]);
  });

  test("serves in the order of arrival, and nobody who left", () => {
    const room = roomOf(["a1", "b1", "a2", "c1"]);
    room.leave("b1");
    expect(served(room, () => true)).toEqual(["a1", "a2", "c1"]);
    expect([room.size, room.has("a")]).toEqual([0, false]);
  });

  test("a tenant that would not be taken holds up no other", () => {
    const room = roomOf(["a1", "a2", "b1", "c1", "b2"]);
    expect(served(room, ({ name }) => !name.startsWith("a"))).toEqual(["b1", "c1", "b2"]);
    expect(served(room, () => true)).toEqual(["a1", "a2"]);
  });

  test("within a tenant nobody overtakes, also not a smaller one", () => {
    const room = new WaitingRoom<Call>(9);
    enter(room, "a1", 100);
    enter(room, "a2", 1);
    enter(room, "b1", 1);
    expect(served(room, ({ bytes }) => bytes <= 50)).toEqual(["b1"]);
    expect(room.size).toBe(2);
  });

  test("asks about each tenant once, however many of it wait", () => {
    const room = roomOf(["a1", "a2", "a3", "b1", "b2", "c1"]);
    const asked: string[] = [];
    room.next(({ name }) => asked.push(name) < 0);
    expect(asked).toEqual(["a1", "b1", "c1"]);
  });

  test("keeps its last seats for tenants that have none, so that one that floods does not sit in all", () => {
    const room = new WaitingRoom<Call>(20);
    const flood = Array.from({ length: 25 }, (_, n) => enter(room, `a${n}`));
    expect(flood.filter(Boolean)).toHaveLength(18);
    expect(["b1", "b2", "c1", "d1"].map((name) => enter(room, name))).toEqual([true, false, true, false]);
    expect(room.size).toBe(20);
  });
});
