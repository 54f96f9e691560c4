import { describe, expect, test } from "vitest";
import { AddressTries, TRIES_AT_ONCE_MAX } from "../../src/core/address-tries.ts";

const fill = (tries: AddressTries, address: string, nowMs: number) =>
  Array.from({ length: TRIES_AT_ONCE_MAX }, () => tries.begin(address, nowMs));

describe("tries of one address", () => {
  test("are so many at once, and others' are their own", () => {
    const tries = new AddressTries();
    const [first] = fill(tries, "a", 0);
    expect(tries.begin("a", 0)).toBeNull();
    expect(tries.begin("b", 0)).not.toBeNull();
    if (first) tries.end(first);
    expect(tries.begin("a", 0)).not.toBeNull();
    expect(tries.begin("a", 0)).toBeNull();
  });

  test("that never end leave their place after 5 s, and give nobody else's back when they end after all", () => {
    const tries = new AddressTries();
    const [left] = fill(tries, "a", 0);
    expect(tries.begin("a", 4_999)).toBeNull();
    fill(tries, "a", 5_000);
    if (left) tries.end(left);
    expect(tries.begin("a", 5_000)).toBeNull();
  });

  test("under a clock that has stepped back are not counted for ever", () => {
    const tries = new AddressTries();
    fill(tries, "a", 1_000_000);
    expect(tries.begin("a", 0)).not.toBeNull();
  });
});
