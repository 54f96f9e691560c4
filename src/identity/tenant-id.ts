import { z } from "zod";

/**
 * What may be a tenant's id: nearly everything, because ids come from other people's systems. It has to survive a URL,
 * a header in Base64, a database and the name of an object, and nothing more.
 */

/** In characters (code points). An object's name and a path segment hold four bytes for each. */
export const TENANT_ID_LENGTH_MAX = 128;

/** What is wrong with an id; null for a good one. */
export function tenantIdFault(id: string): string | null {
  if (id.trim() === "") return "must not be empty or blank";
  // A lone surrogate becomes U+FFFD on its way through UTF-8: two such ids would be one.
  if (!id.isWellFormed()) return "must be well-formed Unicode";
  // Twice as many units is the least that can hold too many characters; no need to count a megabyte.
  if (id.length > 2 * TENANT_ID_LENGTH_MAX || [...id].length > TENANT_ID_LENGTH_MAX) {
    return `must have at most ${TENANT_ID_LENGTH_MAX} characters`;
  }
  // URLs take them for steps in the path, even when they are percent-encoded.
  return id === "." || id === ".." ? "must not be a dot segment of a path" : null;
}

export function isTenantId(value: unknown): value is string {
  return typeof value === "string" && tenantIdFault(value) === null;
}

/** For a path parameter, after it was decoded. */
export const tenantIdSchema = z.string().superRefine((id, context) => {
  const message = tenantIdFault(id);
  if (message !== null) context.addIssue({ code: "custom", message });
});
