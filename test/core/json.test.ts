import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, isRawNumber, type Json, numberText, parseJson, scanJson } from "../../src/core/json.ts";
import { jsonText } from "../support/json-text.ts";

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

function holdsRaw(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isRawNumber(value) || Object.values(value).some(holdsRaw);
}
