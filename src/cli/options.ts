import { parseArgs } from "node:util";
import { messageOf } from "./tool.ts";

/**
 * The options of every command line tool: a table says what there is, and from it come the values, the usage text and
 * the one line that a bad option is answered with, which names it and says what is allowed.
 */

export interface Option<T> {
  /** What stands for the value in the usage text; empty for a switch. */
  readonly hint: string;
  readonly help: string;
  /**
   * @param given the values in the order in which they were given; none: the option was not used
   * @throws Error whose message goes on after the option's name: "takes 1 to 9, not x"
   */
  readonly read: (given: readonly string[]) => T;
}

/** Options by name in camel case: `jobMs` is `--job-ms`. */
export type OptionTable = Readonly<Record<string, Option<unknown>>>;
export type OptionValues<T extends OptionTable> = {
  readonly [Name in keyof T]: T[Name] extends Option<infer Value> ? Value : never;
};

/** Where a number may lie, ends included. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** A whole number. */
export function whole(hint: string, help: string, range: Range, fallback: number): Option<number> {
  return numeric(hint, help, /^\d{1,15}$/, range, fallback, "");
}

/** A number that may have decimals, in plain digits. */
export function decimal(hint: string, help: string, range: Range, fallback: number): Option<number> {
  return numeric(hint, help, /^\d{1,15}(\.\d{1,9})?$/, range, fallback, "a number from ");
}

function numeric(hint: string, help: string, form: RegExp, { min, max }: Range, fallback: number, kind: string) {
  return one(hint, `${help} (default ${fallback})`, fallback, (given) => {
    const value = Number(given);
    if (!form.test(given) || value < min || value > max) throw new Error(`takes ${kind}${min} to ${max}, not ${given}`);
    return value;
  });
}

/** One of a list of words. */
export function choice<T extends string>(hint: string, help: string, words: readonly T[], fallback: T): Option<T> {
  return one(hint, `${help} (default ${fallback})`, fallback, (given) => {
    const word = words.find((known) => known === given);
    if (word === undefined) throw new Error(`takes ${words.join(", ")}; not ${given}`);
    return word;
  });
}

/** Any text that `check` does not mind; it throws as {@link Option.read} does. */
export function text(hint: string, help: string, fallback: string, check?: (given: string) => void): Option<string> {
  return one(hint, `${help} (default ${fallback})`, fallback, (given) => {
    check?.(given);
    return given;
  });
}

/** An http or https address without a slash at its end. */
export function address(help: string, fallback: string): Option<string> {
  return one("URL", `${help} (default ${fallback})`, fallback, (given) => {
    if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
      throw new Error(`takes an http or https address, not ${given}`);
    }
    return given.replace(/\/+$/, "");
  });
}

/** The last value that was given counts. */
function one<T>(hint: string, help: string, fallback: T, read: (given: string) => T): Option<T> {
  return {
    hint,
    help,
    read: (given) => {
      const last = given.at(-1);
      return last === undefined ? fallback : read(last);
    },
  };
}

/** An option that may be repeated. */
export function list<T>(hint: string, help: string, read: (given: string) => T): Option<readonly T[]> {
  return { hint, help: `${help}; may be repeated`, read: (given) => given.map(read) };
}

/** A switch: on when it is given. */
export function flag(help: string): Option<boolean> {
  return { hint: "", help, read: (given) => given.length > 0 };
}

/**
 * @param argv the arguments after the program's name
 * @returns each option's value, or "help"
 * @throws Error with one line for people
 */
export function readOptions<T extends OptionTable>(argv: readonly string[], table: T): OptionValues<T> | "help" {
  const given = givenValues(argv, table);
  if (given.has("help")) return "help";
  const values = Object.entries(table).map(([name, option]) => {
    try {
      return [name, option.read(given.get(dashed(name)) ?? [])];
    } catch (error) {
      throw new Error(`--${dashed(name)} ${messageOf(error)}`);
    }
  });
  // Each value comes from the option of its own name, which is what the type says.
  return Object.fromEntries(values) as OptionValues<T>;
}

function givenValues(argv: readonly string[], table: OptionTable): Map<string, string[]> {
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(Object.entries(table).map(([name, option]) => [dashed(name), { type: typeOf(option) }])),
      help: { type: "boolean", short: "h" },
    },
    // What is wrong is said here: the parser's own words take several lines and do not say what is allowed.
    strict: false,
    tokens: true,
  });
  const known = new Map(Object.entries(table).map(([name, option]) => [dashed(name), option]));
  const given = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") throw new Error(`takes options only, not ${token.value}; ${allowed(known)}`);
    const option = known.get(token.name);
    if (option === undefined && token.name !== "help") {
      throw new Error(`there is no option ${token.rawName}; ${allowed(known)}`);
    }
    const isSwitch = option === undefined || option.hint === "";
    if (isSwitch && token.value !== undefined) throw new Error(`${token.rawName} takes no value, not ${token.value}`);
    if (!isSwitch && token.value === undefined) throw new Error(`${token.rawName} needs a value: ${option.hint}`);
    given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? ""]);
  }
  return given;
}

function typeOf(option: Option<unknown>): "string" | "boolean" {
  return option.hint === "" ? "boolean" : "string";
}

function allowed(known: ReadonlyMap<string, unknown>): string {
  return `known are ${[...known.keys(), "help"].map((name) => `--${name}`).join(", ")}`;
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** @returns the text of `--help`: the command, what it does, and each option on a line of its own */
export function usageText(command: string, what: string, table: OptionTable): string {
  const rows = Object.entries(table).map(
    ([name, { hint, help }]) => [`--${dashed(name)} ${hint}`.trim(), help] as const,
  );
  const width = Math.max(...rows.map(([name]) => name.length));
  // What comes after the first -- is the tool's, a second one would be an argument of it.
  const before = command.includes(" -- ") ? command : `${command} --`;
  return [`${before} [options]   ${what}`, ...rows.map(([name, help]) => `  ${name.padEnd(width)}   ${help}`)].join(
    "\n",
  );
}
