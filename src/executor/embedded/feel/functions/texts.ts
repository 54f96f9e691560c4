/** Built-in functions of texts, and those that read numbers from text and write anything as text. */

import type { Meter } from "../meter.ts";
import { parseDecimal } from "../numbers.ts";
import { textOf } from "../text.ts";
import type { Value } from "../values.ts";
import { asInteger, asList, asText, type Body, type Functions } from "./form.ts";

const NUMBER = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5})?$/;
/** Of a text that is read as a number. */
const NUMBER_LENGTH_MAX = 200;

/** Of two texts, of which the second is sought in the first. */
function seeking(body: (text: string, sought: string) => Value): Body {
  return ([given, match], meter) => {
    const [text, sought] = [asText(given), asText(match)];
    if (text === null || sought === null) return null;
    meter.search(text.length, sought.length);
    return body(text, sought);
  };
}

/** Of two texts, of which the second is looked for at one place. */
function looking(body: (text: string, sought: string) => boolean): Body {
  return ([given, match], meter) => {
    const [text, sought] = [asText(given), asText(match)];
    if (text === null || sought === null) return null;
    meter.characters(sought.length);
    return body(text, sought);
  };
}

function changing(body: (text: string) => string): Body {
  return ([given], meter) => {
    const text = asText(given);
    if (text === null) return null;
    meter.eachCharacter(text.length);
    const changed = body(text);
    meter.size(changed.length);
    return changed;
  };
}

/** Characters are counted, and not the pairs of units that some of them take. */
function substring(text: string, start: number, length: number | null, meter: Meter): string | null {
  if (start === 0 || (length !== null && length < 1)) return null;
  meter.eachCharacter(text.length);
  const characters = text.isWellFormed() && !/[\ud800-\udfff]/.test(text) ? null : [...text];
  const count = characters === null ? text.length : characters.length;
  const from = start < 0 ? Math.max(0, count + start) : start - 1;
  const to = length === null ? count : from + length;
  return characters === null ? text.slice(from, to) : characters.slice(from, to).join("");
}

function numberFrom(text: string, grouping: string, point: string): Value {
  if (text.length > NUMBER_LENGTH_MAX || grouping === point) return null;
  if (!["", " ", ",", "."].includes(grouping) || ![",", "."].includes(point)) return null;
  const plain = (grouping === "" ? text : text.replaceAll(grouping, "")).replace(point, ".");
  // A point that is left over belonged to the other way of writing.
  if (point === "," && text.replaceAll(grouping === "." ? "." : "\0", "").includes(".")) return null;
  return NUMBER.test(plain) ? parseDecimal(plain) : null;
}

/** Not given, or null: as it is usual. */
function separator(given: Value | undefined, usual: string): string | null {
  return given === undefined || given === null ? usual : asText(given);
}

function join(given: Value | undefined, delimiter: Value | undefined, meter: Meter): Value {
  const list = asList(given);
  const between = separator(delimiter, "");
  if (list === null || between === null) return null;
  const texts: string[] = [];
  let length = 0;
  for (const item of list) {
    meter.members(1);
    if (item === null) continue;
    if (typeof item !== "string") return null;
    length += item.length + (texts.length === 0 ? 0 : between.length);
    meter.size(length);
    meter.characters(item.length + between.length);
    texts.push(item);
  }
  return texts.join(between);
}

export const TEXT_FUNCTIONS: Functions = {
  string: { from: ([from = null], meter) => (from === null ? null : textOf(from, meter)) },
  number: {
    "from, grouping separator?, decimal separator?": ([from, grouping, point], meter) => {
      const [text, groups, decimals] = [asText(from), separator(grouping, ""), separator(point, ".")];
      if (text === null || groups === null || decimals === null) return null;
      meter.eachCharacter(Math.min(text.length, NUMBER_LENGTH_MAX));
      return numberFrom(text, groups, decimals);
    },
  },
  substring: {
    "string, start position, length?": ([given, position, count], meter) => {
      const [text, start] = [asText(given), asInteger(position)];
      const length = count === undefined ? null : asInteger(count);
      const isWhole = count === undefined || length !== null;
      return text === null || start === null || !isWhole ? null : substring(text, start, length, meter);
    },
  },
  "string length": {
    string: ([given], meter) => {
      const text = asText(given);
      if (text === null) return null;
      meter.eachCharacter(text.length);
      let count = 0;
      for (const _character of text) count++;
      return count;
    },
  },
  "upper case": { string: changing((text) => text.toUpperCase()) },
  "lower case": { string: changing((text) => text.toLowerCase()) },
  "substring before": {
    "string, match": seeking((text, sought) => text.slice(0, Math.max(0, text.indexOf(sought)))),
  },
  "substring after": {
    "string, match": seeking((text, sought) => {
      const at = text.indexOf(sought);
      return at === -1 ? "" : text.slice(at + sought.length);
    }),
  },
  contains: { "string, match": seeking((text, sought) => text.includes(sought)) },
  "starts with": { "string, match": looking((text, sought) => text.startsWith(sought)) },
  "ends with": { "string, match": looking((text, sought) => text.endsWith(sought)) },
  "string join": { "list, delimiter?": ([list, delimiter], meter) => join(list, delimiter, meter) },
};
