import { CONFIG_NAMES, parseConfig } from "../config.ts";
import { list, readOptions, text, usageText, whole } from "./options.ts";

/** What may be said to `npm start`. Whatever is wrong is one line that names it and says what is allowed. */

const OPTIONS = {
  port: whole("N", "where to listen on 127.0.0.1; 0: a free port", { min: 0, max: 65_535 }, 8787),
  persistTo: text("DIR", "the folder of all state", ".wrangler/state"),
  var: list("NAME:VALUE", "a variable of wrangler.toml for this run", readVar),
};

export const USAGE = usageText("npm start", "the gateway on this machine, until Ctrl-C", OPTIONS);

export interface ServeArguments {
  readonly port: number;
  readonly persistTo: string;
  readonly vars: Readonly<Record<string, string>>;
}

/**
 * @param argv the arguments after the program's name
 * @returns what was asked for, or "help"
 * @throws Error with one line for people
 */
export function readArguments(argv: readonly string[]): ServeArguments | "help" {
  const values = readOptions(argv, OPTIONS);
  if (values === "help") return "help";
  const vars = Object.fromEntries(values.var);
  parseConfig(vars);
  return { port: values.port, persistTo: values.persistTo, vars };
}

function readVar(given: string): [string, string] {
  const [name = "", ...value] = given.split(":");
  if (name === "" || value.length === 0) throw new Error(`takes NAME:VALUE, not ${given}`);
  if (!CONFIG_NAMES.includes(name)) throw new Error(`knows no ${name}; known are ${CONFIG_NAMES.join(", ")}`);
  return [name, value.join(":")];
}
