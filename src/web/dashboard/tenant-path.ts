import { useReading } from "./context.ts";
import type { Tier } from "./shapes.ts";

/** What the parts of a tenant's dialog share. */

/** The address of a tenant's routes. @param rest "/limits", … */
export function tenantPath(id: string, rest = ""): string {
  return `/admin/tenants/${encodeURIComponent(id)}${rest}`;
}

const EVERY_MS = 60_000;

/** The names of all tiers; empty before they are known. */
export function useTierNames(): readonly string[] {
  const { value } = useReading<{ readonly tiers: readonly Tier[] }>("/admin/tiers", EVERY_MS);
  return value?.tiers.map(({ name }) => name) ?? [];
}
