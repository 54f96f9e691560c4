import type { FieldFault } from "../core/problem.ts";

/**
 * The query of a request, as texts by name. A parameter that the route does not know, or that is there twice, is a fault:
 * passed over, `?dryRun=true` would change things for real.
 */

export type QueryRead =
  | { readonly value: Readonly<Record<string, string>> }
  | { readonly errors: readonly FieldFault[] };

const NO_QUERY: QueryRead = { value: {} };

/**
 * @param url the address as it was sent
 * @param known the names of the route's parameters
 */
export function readQuery(url: string, known: readonly string[]): QueryRead {
  const start = url.indexOf("?");
  if (start < 0 || start === url.length - 1) return NO_QUERY;
  const text = url.slice(start + 1);
  if (text.includes("%") && !isDecodable(text)) return UNDECODABLE;
  const pairs = [...new URLSearchParams(text)];
  const names = new Set(pairs.map(([name]) => name));
  const faults = [...names].flatMap((name): FieldFault[] => {
    const path = name.slice(0, NAME_LENGTH_MAX);
    if (!known.includes(name)) return [{ path, message: "is no parameter of this route" }];
    const count = pairs.filter(([other]) => other === name).length;
    return count > 1 ? [{ path, message: "is given more than once" }] : [];
  });
  return faults.length > 0 ? { errors: faults.slice(0, FAULTS_MAX) } : { value: Object.fromEntries(pairs) };
}

/** An answer is not larger than the request that it names the faults of: in characters, and in faults. */
const NAME_LENGTH_MAX = 200;
const FAULTS_MAX = 20;

const UNDECODABLE: QueryRead = { errors: [{ path: "query", message: "is not percent-encoded UTF-8" }] };

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
