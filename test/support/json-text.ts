import fc from "fast-check";

/** JSON documents as text, with numbers that doubles cannot hold, in the order that JavaScript keeps members in. */

const sign = fc.constantFrom("", "-");
const digits = (max: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: max }).map((some) => some.join(""));
const whole = digits(30).map((some) => some.replace(/^0+(?=.)/, ""));
const exponent = fc
  .tuple(fc.constantFrom("e", "E"), fc.constantFrom("", "+", "-"), fc.integer({ min: 0, max: 420 }))
  .map((parts) => parts.join(""));

/** Any number that JSON can write. */
export function numberTexts(): fc.Arbitrary<string> {
  const made = fc
    .tuple(sign, whole, fc.option(digits(25), { nil: null }), fc.option(exponent, { nil: "" }))
    .map(([minus, before, after, power]) => `${minus}${before}${after === null ? "" : `.${after}`}${power}`);
  const plain = fc
    .oneof(fc.integer(), fc.double({ noDefaultInfinity: true, noNaN: true }))
    .map((n) => JSON.stringify(n));
  const known = ["9007199254740993", "1.10", "-0", "1e-400", "1e400", "1E+2", "1.0", "0.30000000000000004", "1e21"];
  return fc.oneof(made, plain, fc.constantFrom(...known));
}

/** A document of any kind. */
export function jsonText(): fc.Arbitrary<string> {
  return fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      numberTexts(),
      fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("1.10", '"1.0', "\\")).map((s) => JSON.stringify(s)),
      fc.constantFrom("true", "false", "null"),
      fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
      fc.dictionary(memberNames(), tie("value"), { maxKeys: 4 }).map(objectText),
    ),
  })).value;
}

/** A document that is an object, as payloads and variables are. */
export function jsonObjectText(): fc.Arbitrary<string> {
  return fc.dictionary(memberNames(), jsonText(), { maxKeys: 5 }).map(objectText);
}

function memberNames(): fc.Arbitrary<string> {
  const known = ["__proto__", "constructor", "toString", "rawJSON", "id", "a.b", "1.10", ""];
  return fc.oneof(fc.constantFrom(...known), fc.string({ maxLength: 6 }));
}

/** Names that are indices come first in every object. */
function objectText(members: Record<string, string>): string {
  const sorted = Object.entries(members);
  return `{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}
