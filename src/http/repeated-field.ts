import type { Problem } from "../core/problem.ts";
import { invalidFields } from "./body.ts";

/**
 * Header fields of which one is meant. The platform joins two fields of a name by a comma and a space, so two credentials
 * arrive as one text that is neither of them.
 */

/** No credential of ours holds a comma before the name of a scheme, and no key holds a comma at all. */
const TWO_OF: Readonly<Record<string, RegExp>> = {
  Authorization: /,\s*(?:bearer|basic)(?:\s|$)/i,
  "X-API-Key": /,/,
};

/** What is wrong with a request that shows more than one credential of a kind; null: nothing is. */
export function repeatedCredential(headers: Headers): Problem | null {
  const repeated = Object.keys(TWO_OF).filter((name) => TWO_OF[name]?.test(headers.get(name) ?? ""));
  if (repeated.length === 0) return null;
  const faults = repeated.map((path) => ({ path, message: "is given more than once" }));
  return invalidFields(faults, "header");
}
