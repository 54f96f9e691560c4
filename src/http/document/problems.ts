import { ANY_WIRE, type AnyProblemCode } from "../../core/problem.ts";
import { problemBody } from "../problem.ts";
import { type EveryHeader, headersNamed, RATE_HEADERS, type Registry } from "./headers.ts";
import { MEANINGS } from "./meanings.ts";

/**
 * What is said instead of yes, as parts of the API document that routes share. Its examples are made by the code that
 * makes the answers.
 */

/** Problems whose answers come after a limit was asked, so that they may say what is left of it. */
const AFTER_LIMITS: ReadonlySet<number> = new Set([401, 409, 422, 429, 503, 504]);

/**
 * What a route may say instead of yes, by status, as references to parts of the document that routes share.
 *
 * @param codes each that it may say
 * @param at its path: on the engine's surface titles are others
 */
export function problemResponses(
  registry: Registry,
  codes: readonly AnyProblemCode[],
  at: string,
): Record<string, { $ref: string }> {
  const byStatus = Map.groupBy([...new Set(codes)].sort(), (code) => ANY_WIRE[code].status);
  const prefix = SURFACES.find(([form]) => form.test(at))?.[1] ?? "";
  return Object.fromEntries(
    [...byStatus].map(([status, said]) => {
      const name = prefix + said.join(".");
      if (!isRegistered(registry, name)) {
        registry.registerComponent("responses", name, response(status, said, EXAMPLE_PATHS[prefix] ?? at));
      }
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

/** Where bodies differ, and what the names of those parts of the document begin with. */
const SURFACES: readonly (readonly [RegExp, string])[] = [
  [/^\/v2\//, "engine."],
  [/^\/oauth\//, "oauth."],
];
const EXAMPLE_PATHS: Readonly<Record<string, string>> = {
  "": "/v1/commands",
  "engine.": "/v2/process-instances",
  "oauth.": "/oauth/token",
};

function isRegistered(registry: Registry, name: string): boolean {
  return registry.definitions.some(
    (one) => one.type === "component" && one.componentType === "responses" && one.name === name,
  );
}

function response(status: number, codes: readonly AnyProblemCode[], instance: string) {
  const likes = codes.map((code) => MEANINGS[code].like);
  const names: EveryHeader[] = ["X-Request-Id"];
  if (likes.some((like) => "retryAfterSeconds" in like)) names.push("Retry-After");
  if (status === 401) names.push("WWW-Authenticate");
  if (AFTER_LIMITS.has(status)) names.push(...RATE_HEADERS, "X-Headgate-Degraded");
  return {
    description: codes.map((code) => `\`${code}\`: ${MEANINGS[code].meaning}.`).join("\n\n"),
    headers: headersNamed([...names, "Cache-Control"]),
    content: {
      "application/problem+json": {
        schema: {
          allOf: [{ $ref: "#/components/schemas/Problem" }, { properties: { code: { enum: [...codes] } } }],
        },
        examples: Object.fromEntries(
          likes.map((like) => [
            like.code,
            { summary: MEANINGS[like.code].meaning, value: problemBody(like, instance) },
          ]),
        ),
      },
    },
  };
}
