import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/core/idempotency.ts";
import {
  countMembers,
  isJsonObject,
  isRawNumber,
  type Json,
  numberText,
  parseJson,
  parseJsonValues,
} from "../../src/core/json.ts";
import { exactNumberOf, memberText, repeatedMember, scanJson } from "../../src/core/json-scan.ts";
import { jsonObjectText, jsonText } from "../support/json-text.ts";

describe("JSON that loses nothing", () => {
  it.each(["9007199254740993", "-9007199254740993", "123456789012345678901234567890", "0.1234567890123456789", "1.10"])(
    "keeps %s as it is written, at any depth",
    (number) => {
      const text = `{"a":[{"1":[${number}],"__proto__":${number}}],"b":${number}}`;
      expect(JSON.stringify(parseJson(text))).toBe(text);
    },
  );

  it.each(["-0", "-0.0", "0.0", "1.0", "1e-400", "1e400", "-1E400", "1E+2", "1e2", "1e21", "0e0", "100e-2"])(
    "keeps %s apart from every other spelling",
    (number) => {
      const value = parseJson(number);
      expect(isRawNumber(value) ? numberText(value) : value).toBe(number);
    },
  );

  it.each(["0", "1", "-1", "0.1", "-1.5", "9007199254740991", "9007199254740992", "1e+21", "1e-7", "5e-324"])(
    "reads %s as a plain number, which prints the same",
    (number) => {
      expect(scanJson(`[${number}]`).exact).toBe(true);
      expect(typeof parseJson(number)).toBe("number");
    },
  );

  it("takes no digits inside a string for a number", () => {
    expect(scanJson(String.raw`{"a":"1.10","b\"1.10":"\\","c":"9007199254740993"}`).exact).toBe(true);
    expect(scanJson(String.raw`{"a":"\\","b":1.10}`).exact).toBe(false);
  });

  it("is no object, though the engine holds it as one", () => {
    expect(isJsonObject(parseJson("1.10"))).toBe(false);
  });

  it.each([
    ["1.0", 1],
    ["1E+2", 100],
    ["0.10", 0.1],
    ["1e-400", undefined],
    ["9007199254740993", undefined],
    ["9007199254740992.0", 2 ** 53],
    ["0.1000000000000000055511151231257827", undefined],
    ["1e400", undefined],
    ["-0", -0],
    ["1e23", 1e23],
  ])("tells whether a double holds the value of %s", (written, number) => {
    expect(exactNumberOf(written)).toBe(number);
    expect(scanJson(written).held).toBe(number !== undefined);
  });

  it("reads what a program calculates with as plain numbers, and only what a double would round as it is written", () => {
    expect(JSON.stringify(parseJsonValues('[1.10,1e2,9007199254740993,"1.0"]'))).toBe(
      '[1.1,100,9007199254740993,"1.0"]',
    );
  });

  it.each([
    ['{"a":1,"a":2}', "a"],
    [String.raw`{"a":1,"\u0061":2}`, "a"],
    ['{"a":[{},{"b":{"c":1,"d":[],"c":1}}]}', "a.1.b.c"],
    ['[{"__proto__":1,"__proto__":1}]', "0.__proto__"],
  ])("names the member that %s has twice", (text, path) => {
    expect(repeatedMember(text)).toBe(path);
    expect(countMembers(parseJson(text))).toBeLessThan(scanJson(text).members);
  });

  it("finds no member twice where there is none, and each member's text as it stands", () => {
    fc.assert(
      fc.property(jsonObjectText(), jsonText(), (object, text) => {
        const whole = `{"intent": "A:B", "payload" : ${object} ,"x":${text}}`;
        const { members } = scanJson(whole);
        expect([repeatedMember(whole), countMembers(parseJson(whole))]).toEqual([null, members]);
        expect([memberText(whole, "payload"), memberText(whole, "x")]).toEqual([object, text]);
        expect(memberText(whole, "y")).toBeUndefined();
      }),
    );
  });

  it("prints every document as it was written", () => {
    fc.assert(
      fc.property(jsonText(), (text) => {
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it("makes a raw number only of what a double prints differently", () => {
    fc.assert(
      fc.property(jsonText(), (text) => {
        expect(holdsRaw(parseJson(text))).toBe(!scanJson(text).exact);
        expect(scanJson(text).exact).toBe(JSON.stringify(JSON.parse(text)) === text);
      }),
    );
  });
});

describe("the fingerprint of a request", () => {
  it.each([
    ["9007199254740992", "9007199254740993"],
    ["1", "1.0"],
    ["0", "-0"],
    ["1e400", "1e401"],
    ["0.1", "0.10000000000000000001"],
  ])("tells %s from %s", (one, other) => {
    const of = (number: string) => canonicalJson(parseJson(`{"n":[${number}]}`));
    expect(of(one)).not.toBe(of(other));
  });

  it("is one whatever the order of members is", () => {
    const of = (text: string) => canonicalJson(parseJson(text));
    expect(of('{"b":1.10,"a":{"d":-0,"c":2}}')).toBe(of('{"a":{"c":2,"d":-0},"b":1.10}'));
  });
});

function holdsRaw(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isRawNumber(value) || Object.values(value).some(holdsRaw);
}
