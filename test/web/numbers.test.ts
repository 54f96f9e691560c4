import { describe, expect, test } from "vitest";
import { bytes, duration, perSecond, relative, whole } from "../../src/web/shared/numbers.ts";

describe("figures are written in as few words as they take", () => {
  test.each([
    [0, "0.0 s"],
    [4.24, "4.2 s"],
    [9.96, "10.0 s"],
    [12.4, "12 s"],
    [59.6, "1 min"],
    [185, "3 min 5 s"],
    [7_800, "2 h 10 min"],
    [93_600, "1 d 2 h"],
  ])("%d seconds are %s", (seconds, words) => expect(duration(seconds)).toBe(words));

  test.each([
    [-0.01, "0.0/s"],
    [8.04, "8.0/s"],
    [99.94, "99.9/s"],
    [99.96, "100/s"],
    [12_345.6, "12,346/s"],
  ])("%d a second are %s", (rate, words) => expect(perSecond(rate)).toBe(words));

  test.each([
    [400, "now"],
    [12_000, "12 s ago"],
    [200_000, "3 min ago"],
    [-7_200_000, "in 2 h"],
    [3 * 86_400_000, "3 d ago"],
  ])("%d ms are %s", (ms, words) => expect(relative(ms)).toBe(words));

  test.each([
    [512, "512 B"],
    [1_536, "1.5 KiB"],
    [33_554_432, "32 MiB"],
    [1_073_741_824, "1 GiB"],
  ])("%d bytes are %s", (size, words) => expect(bytes(size)).toBe(words));

  test("thousands are told apart", () => expect(whole(10_000)).toBe("10,000"));
});
