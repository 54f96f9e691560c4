import { expect, test } from "vitest";
import { visible } from "../../src/web/shared/visible.ts";

test.each([
  ["an ordinary name", "acme", "acme"],
  ["letters of any script", "Ünïcøde 東京", "Ünïcøde 東京"],
  ["a line break", "a\n5:alice", "a\\u{a}5:alice"],
  ["an override of direction", "abc\u202ecba", "abc\\u{202e}cba"],
  ["what has no width", "a\u200bb", "a\\u{200b}b"],
])("%s", (_label, text, shown) => {
  expect(visible(text)).toBe(shown);
});
