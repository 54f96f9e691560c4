import { z } from "@hono/zod-openapi";
import { ENGINE_METHODS, ENGINE_ROUTES, type EngineRoute } from "../../core/engine-routes.ts";
import { INTENT_FORM, intentTable, isCritical } from "../../core/intents.ts";
import { jsonOf } from "../../core/json.ts";

/**
 * The rows that a deployment adds to the table of the engine's surface (`V2_ROUTES`), for what its cluster can do and
 * ours cannot: `[{"method": "POST", "path": "/v2/messages/publication", "intent": "MESSAGE:PUBLISH"}]`.
 */

const row = z.strictObject({
  method: z.enum(ENGINE_METHODS),
  path: z.string().regex(/^\/v2(\/[A-Za-z0-9._-]+|\/\{\w+\})+$/, "must begin with /v2, with names in braces for keys"),
  intent: z.string().regex(INTENT_FORM, "must be NOUN:VERB in capitals").nullable().default(null),
  cost: z.int().min(0).max(1_000).default(1),
  critical: z.boolean().optional(),
  repeatable: z.boolean().optional(),
  held: z.boolean().default(false),
});

export interface Surface {
  readonly routes: readonly EngineRoute[];
  /** The deployment says what its cluster's surface is, if only with an empty list. */
  readonly declared: boolean;
}

/** @returns the whole table; or, for text that adds none, one line that says what is wrong with it */
export function parseSurface(text: string): Surface | string {
  const parsed = z.array(row).safeParse(text === "" ? [] : jsonOf(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `${issue?.path.join(".") || "it"}: ${issue?.message ?? "is no list of routes"}`;
  }
  const own = intentTable();
  const added = parsed.data.map(({ critical, repeatable, intent, ...rest }): EngineRoute => {
    const flags = { critical: critical ?? (intent !== null && isCritical(own, intent)) };
    // Nobody has said that it may be done twice; to read twice is nothing.
    return { ...rest, ...flags, intent, repeatable: repeatable ?? intent === null };
  });
  return { routes: [...added, ...Object.values(ENGINE_ROUTES)], declared: text !== "" };
}
