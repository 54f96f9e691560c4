/** What an evaluation came to, as JSON: numbers with exactly their digits, dates and durations as ISO text. */

import { JSON_DEPTH_MAX, type Json } from "../../../core/json.ts";
import { COST, Fault, type Meter, VALUE_SIZE_MAX } from "./meter.ts";
import { isNumber, jsonOfNumber } from "./numbers.ts";
import { isList, isTemporal, Range, type Value } from "./values.ts";

/**
 * @param value of an expression
 * @returns it as a new JSON value
 * @throws {Fault} for what is no JSON, too large or too deep
 */
export function toJson(value: Value, meter: Meter): Json {
  let size = 0;
  const convert = (part: Value, depth: number): Json => {
    size += typeof part === "string" ? 1 + part.length : 1;
    if (size > VALUE_SIZE_MAX) throw new Fault("has a result that is too large");
    if (depth > JSON_DEPTH_MAX) throw new Fault("has a result that nests too deeply");
    meter.members(1);
    if (part === null || typeof part === "string" || typeof part === "boolean") return part;
    if (isNumber(part)) {
      if (typeof part !== "number") meter.charge(2 * COST.decimal);
      return jsonOfNumber(part);
    }
    if (isList(part)) return part.map((item) => convert(item, depth + 1));
    if (isTemporal(part)) {
      meter.charge(COST.temporal);
      return part.toString();
    }
    if (part instanceof Range) throw new Fault("gives a range, which is not JSON");
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, convert(item, depth + 1)]));
  };
  return convert(value, 0);
}
