import { z } from "@hono/zod-openapi";
import type { Config } from "../config.ts";
import { INTENT_FORM } from "../core/intents.ts";
import { routeOf } from "../executor/upstream/routes.ts";

/** The intents that a deployment takes: those that it declares by name and, where `*` has a route, every other. */

export function takesIntent({ executor, intents, routes }: Config, intent: string): boolean {
  return executor === "embedded" ? intents.has(intent) : routeOf(routes, intent) !== null;
}

/** How much of an intent that nobody declared is said back. */
const SHOWN_LENGTH_MAX = 100;

/** The schema of an intent in a body; what is wrong names it. */
export function intentSchema({ intents, routes }: Config): z.ZodType<string> {
  const names = [...intents.keys()];
  if (routes.otherwise !== null) {
    return z
      .string()
      .regex(INTENT_FORM, "must be NOUN:VERB in capitals")
      .openapi({ example: names[0] ?? "ORDER:PLACE" });
  }
  return z.enum(names, {
    error: ({ input }) =>
      typeof input === "string"
        ? `unknown intent ${JSON.stringify(input.slice(0, SHOWN_LENGTH_MAX))}; taken are ${names.join(", ")}`
        : undefined,
  });
}
