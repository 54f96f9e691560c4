import { ANY_WIRE, type AnyProblemCode } from "../../core/problem.ts";
import { problemBody } from "../problem.ts";
import { type EveryHeader, headersNamed, RATE_HEADERS, type Registry } from "./headers.ts";
import { MEANINGS } from "./meanings.ts";

/**
 * What is said instead of yes, as parts of the API document that routes share. Its examples are made by the code that
 * makes the answers.
 */

interface Surface {
  readonly at: RegExp;
  /** What the names of its parts of the document begin with. */
  readonly prefix: string;
  /** A path of its own, for examples. */
  readonly instance: string;
  /** Statuses whose answers come after a limit was asked, so that they may say what is left of it. */
  readonly afterLimits: ReadonlySet<number>;
}

const AFTER_LIMITS = [401, 404, 409, 422, 429, 503, 504];
const PLAIN: Surface = { at: /^/, prefix: "", instance: "/v1/commands", afterLimits: new Set(AFTER_LIMITS) };
/** Where bodies are others. */
const SURFACES: readonly Surface[] = [
  {
    at: /^\/v2\//,
    prefix: "engine.",
    instance: "/v2/process-instances",
    // What the engine itself finds wrong has been charged.
    afterLimits: new Set([...AFTER_LIMITS, 400]),
  },
  { ...PLAIN, at: /^\/oauth\//, prefix: "oauth.", instance: "/oauth/token" },
];

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
  const surface = SURFACES.find((one) => one.at.test(at)) ?? PLAIN;
  return Object.fromEntries(
    [...byStatus].map(([status, said]) => {
      const name = surface.prefix + said.join(".");
      if (!isRegistered(registry, name)) {
        registry.registerComponent("responses", name, response(status, said, surface));
      }
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function isRegistered(registry: Registry, name: string): boolean {
  return registry.definitions.some(
    (one) => one.type === "component" && one.componentType === "responses" && one.name === name,
  );
}

function response(status: number, codes: readonly AnyProblemCode[], { instance, afterLimits }: Surface) {
  const likes = codes.map((code) => MEANINGS[code].like);
  const names: EveryHeader[] = ["X-Request-Id"];
  if (likes.some((like) => "retryAfterSeconds" in like)) names.push("Retry-After");
  if (status === 401) names.push("WWW-Authenticate");
  if (afterLimits.has(status)) names.push(...RATE_HEADERS, "X-Headgate-Degraded");
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
