/** Values as text, as `string()` writes them. */

import type { Meter } from "./meter.ts";
import { COST } from "./meter.ts";
import { isNumber, textOfNumber } from "./numbers.ts";
import { isContext, isList, isTemporal, Range, type Value } from "./values.ts";

/**
 * @param value of any kind
 * @returns a text as it is; anything else as it would be written in an expression
 */
export function textOf(value: Value, meter: Meter): string {
  if (typeof value === "string") return value;
  const writer = new Writer(meter);
  writer.write(value, 0);
  return writer.text();
}

/** Charges for each piece once: a text is put together at the end, however deep its parts are. */
class Writer {
  readonly #meter: Meter;
  readonly #pieces: string[] = [];
  #length = 0;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  text(): string {
    this.#meter.characters(this.#length);
    return this.#pieces.join("");
  }

  write(value: Value, depth: number): void {
    this.#meter.depth(depth);
    if (typeof value === "string") this.#quote(value);
    else if (value === null || typeof value === "boolean") this.#add(String(value));
    else if (isNumber(value)) {
      this.#meter.charge(2 * COST.decimal);
      this.#add(textOfNumber(value));
    } else if (isTemporal(value)) {
      this.#meter.charge(COST.temporal);
      this.#add(value.toString());
    } else if (value instanceof Range) this.#writeRange(value, depth);
    else this.#writeMembers(value, depth);
  }

  #writeRange(range: Range, depth: number): void {
    this.#add(range.lowIncluded ? "[" : "(");
    if (range.low !== null) this.write(range.low, depth + 1);
    this.#add("..");
    if (range.high !== null) this.write(range.high, depth + 1);
    this.#add(range.highIncluded ? "]" : ")");
  }

  #writeMembers(value: Value, depth: number): void {
    if (isList(value)) {
      this.#add("[");
      for (const [index, item] of value.entries()) {
        if (index > 0) this.#add(", ");
        this.write(item, depth + 1);
      }
      this.#add("]");
    } else if (isContext(value)) {
      const entries = Object.entries(value);
      this.#meter.members(entries.length);
      this.#add("{");
      for (const [index, [name, member]] of entries.entries()) {
        if (index > 0) this.#add(", ");
        this.#meter.eachCharacter(name.length);
        if (/\W/.test(name)) this.#quote(name);
        else this.#add(name);
        this.#add(": ");
        this.write(member, depth + 1);
      }
      this.#add("}");
    }
  }

  #quote(text: string): void {
    // Each may become two.
    this.#meter.eachCharacter(2 * text.length);
    this.#add(`"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`);
  }

  #add(piece: string): void {
    this.#meter.characters(piece.length);
    this.#length += piece.length;
    this.#meter.size(this.#length);
    this.#pieces.push(piece);
  }
}
