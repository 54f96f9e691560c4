import { parseArgs } from "node:util";
import { CONFIG_NAMES, parseConfig } from "../config.ts";

/** What may be said to `npm start`. Whatever is wrong is one line that names it and says what is allowed. */

export const USAGE = `npm start -- [--port N] [--persist-to DIR] [--var NAME:VALUE]...
  --port N           where to listen on 127.0.0.1 (default 8787; 0: a free port)
  --persist-to DIR   the folder of all state (default .wrangler/state)
  --var NAME:VALUE   a variable of wrangler.toml for this run; may be repeated`;

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
  const { values } = parseArgs({
    args: [...argv],
    options: {
      port: { type: "string", default: "8787" },
      "persist-to": { type: "string", default: ".wrangler/state" },
      var: { type: "string", multiple: true, default: [] },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  const port = Number(values.port);
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) throw new Error(`--port takes 0 to 65535, not ${values.port}`);
  const vars = Object.fromEntries(values.var.map(readVar));
  parseConfig(vars);
  return { port, persistTo: values["persist-to"], vars };
}

function readVar(text: string): [string, string] {
  const [name = "", ...value] = text.split(":");
  if (name === "" || value.length === 0) throw new Error(`--var takes NAME:VALUE, not ${text}`);
  if (!CONFIG_NAMES.includes(name)) {
    throw new Error(`--var knows no ${name}; known are ${CONFIG_NAMES.join(", ")}`);
  }
  return [name, value.join(":")];
}
