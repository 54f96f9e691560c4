import type { CommandView } from "../core/command.ts";
import type { DeadLetter } from "../durable/views.ts";

/** Members that are JSON text already, and are shown as they were written. */
const TEXTS: ReadonlySet<string> = new Set(["result", "payload"]);

/** A command as callers see it, or a dead letter as operators do, as JSON. */
export function commandJson(view: CommandView | DeadLetter): string {
  const members = Object.entries(view).flatMap(([name, value]) =>
    value === undefined ? [] : [`"${name}":${TEXTS.has(name) ? value : JSON.stringify(value)}`],
  );
  return `{${members.join(",")}}`;
}
