/**
 * What can be known of a JSON text without parsing it. Contract: pure, and cannot be exhausted by any text.
 */

/** What a text holds, found without parsing it. */
export interface JsonScan {
  /** How deeply arrays and objects nest: 0 for a scalar, 1 for `{}` or `[]`, and so on. */
  readonly depth: number;
  /** A double prints each of its numbers as it is written. */
  readonly exact: boolean;
  /** A double holds the value of each of its numbers, however it is spelt. */
  readonly held: boolean;
  /** How many members its objects have, those that are written twice counted twice. */
  readonly members: number;
}

/**
 * Looks through a JSON text without parsing it: parsers and validators recurse, so a body of 100 000 brackets must be
 * refused before it reaches one.
 *
 * @param text any text; what is found in one that is not JSON is irrelevant, since the parser refuses it
 */
export function scanJson(text: string): JsonScan {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let exact = true;
  let held = true;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === COLON) members++;
    else if (c === MINUS || isDigit(c)) {
      const end = endOfNumber(text, i);
      if (!isPlain(text, i, end)) {
        const written = text.slice(i, end);
        const isExact = String(Number(written)) === written;
        exact &&= isExact;
        held &&= isExact || exactNumberOf(written) !== undefined;
      }
      i = end - 1;
    } else if (c === OPEN_BRACE || c === OPEN_BRACKET) deepest = Math.max(deepest, ++depth);
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
  }
  return { depth: deepest, exact, held, members };
}

/** As {@link scanJson}, of the depth alone. */
export function jsonDepth(text: string): number {
  return scanJson(text).depth;
}

/** Where the string ends that begins at `start`: at its closing quote. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === BACKSLASH) i++;
    else if (c === QUOTE) return i;
  }
  return text.length;
}

/** Behind the last character that can belong to the number. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isOfNumber(text.charCodeAt(end))) end++;
  return end;
}

/** A double keeps so many digits of a decimal, and prints them again. */
const PLAIN_DIGITS_MAX = 15;

/** Whether it is known without reading the number that it is printed as it is written: `42`, `0.5`, `12.25`. */
function isPlain(text: string, start: number, end: number): boolean {
  if (end - start > PLAIN_DIGITS_MAX) return false;
  let point = end;
  for (let i = start; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === POINT && point === end) point = i;
    else if (!isDigit(c)) return false;
  }
  // A zero at the end is not printed, and what is very small is printed with an exponent.
  return point === end || (text.charCodeAt(end - 1) !== ZERO && text.charCodeAt(point + 1) !== ZERO);
}

/**
 * The number that a text means, where a double holds its value.
 *
 * @param written a number as JSON writes it
 * @returns undefined for one that a double would round
 */
export function exactNumberOf(written: string): number | undefined {
  const number = Number(written);
  return Number.isFinite(number) && decimalOf(String(number)) === decimalOf(written) ? number : undefined;
}

/** One text for all spellings of a value: its sign, its digits without zeros around them, and the power of the last. */
function decimalOf(written: string): string {
  const [, sign = "", whole = "", part = "", power = "0"] = /^(-?)(\d*)\.?(\d*)(?:[eE](.+))?$/.exec(written) ?? [];
  const digits = (whole + part).replace(/^0+/, "");
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === ZERO) end--;
  if (end === 0) return "0";
  return `${sign}${digits.slice(0, end)}e${Number(power) - part.length + digits.length - end}`;
}

/**
 * Where an object of a text has the same member twice, as a dotted path; null where none has.
 *
 * @param text JSON: it has been parsed
 */
export function repeatedMember(text: string): string | null {
  const open: { readonly names: Set<string> | null; at: string | number }[] = [];
  let isName = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const inner = open.at(-1);
    if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      isName = c === OPEN_BRACE;
      open.push(isName ? { names: new Set(), at: "" } : { names: null, at: 0 });
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) open.pop();
    else if (c === COMMA && inner !== undefined) {
      isName = inner.names !== null;
      if (typeof inner.at === "number") inner.at++;
    } else if (c === QUOTE) {
      const end = endOfString(text, i);
      if (isName && inner?.names) {
        const name: string = JSON.parse(text.slice(i, end + 1));
        inner.at = name;
        if (inner.names.has(name)) return open.map(({ at }) => at).join(".");
        inner.names.add(name);
      }
      isName = false;
      i = end;
    }
  }
  return null;
}

/**
 * The text of a member of the object that a text holds, as it stands there.
 *
 * @param text JSON of an object that has no member twice: it has been parsed
 * @returns undefined where there is no such member
 */
export function memberText(text: string, name: string): string | undefined {
  let depth = 0;
  let start: number | null = null;
  let last = "";
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      const end = endOfString(text, i);
      if (depth === 1 && start === null) last = text.slice(i, end + 1);
      i = end;
    } else if (c === COLON && depth === 1 && JSON.parse(last) === name) start = i + 1;
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      if (--depth === 0) return start === null ? undefined : text.slice(start, i).trim();
    } else if (c === COMMA && depth === 1 && start !== null) return text.slice(start, i).trim();
  }
  return undefined;
}

function isDigit(c: number): boolean {
  return c >= ZERO && c <= NINE;
}

function isOfNumber(c: number): boolean {
  return isDigit(c) || c === POINT || c === PLUS || c === MINUS || c === SMALL_E || c === LARGE_E;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LARGE_E = 0x45;
const SMALL_E = 0x65;
