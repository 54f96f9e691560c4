import { address, decimal, flag, readOptions, text, usageText } from "./options.ts";

/** What may be said to `npm run watch`. */

export interface WatchOptions {
  readonly url: string;
  readonly key: string;
  /** 0: until it is interrupted. */
  readonly seconds: number;
  readonly json: boolean;
}

const OPTIONS = {
  url: address("where the gateway is", "http://127.0.0.1:8787"),
  key: text("KEY", "a tenant's credential", "hg_dev_premium"),
  seconds: decimal("N", "for how long; 0: until Ctrl-C", { min: 0, max: 1_000_000 }, 0),
  json: flag("one JSON object a second instead of the table"),
};

export const WATCH_USAGE = usageText("npm run watch", "the queue of a gateway that runs, once a second", OPTIONS);

/**
 * @param argv the arguments after the program's name
 * @returns what was asked for, or "help"
 * @throws Error with one line for people
 */
export function readWatchArguments(argv: readonly string[]): WatchOptions | "help" {
  return readOptions(argv, OPTIONS);
}
