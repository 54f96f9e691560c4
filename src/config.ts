import { z } from "@hono/zod-openapi";

/**
 * The deployment's variables, checked once and frozen. A bad one stops the start and is named; a missing one has its
 * default. Defaults, units and ranges are here, the reasons for each in wrangler.toml.
 */

const whole = (min: number, max: number, fallback: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback);
const text = z.string().default("");

const variables = z
  .object({
    QUEUE_MAX: whole(1, 1_000_000, 10_000),
    QUEUE_BYTES_MAX: whole(1024, 64 * 1024 * 1024, 32 * 1024 * 1024),
    ENQUEUE_WAIT_MS: whole(0, 60_000, 5_000),
    ENQUEUE_WAITERS_MAX: whole(0, 10_000, 100),
    BODY_BYTES_MAX: whole(1024, 1024 * 1024, 256 * 1024),
    FINISHED_KEEP_HOURS: whole(1, 24 * 30, 24),
    FINISHED_KEEP_MAX: whole(1_000, 20_000_000, 1_000_000),
    IDENTITY_CACHE_MS: whole(0, 300_000, 10_000),
    LIMITER_TIMEOUT_MS: whole(1, 60_000, 1_000),
    LIMITER_FAILURE: z.enum(["open", "closed"]).default("open"),
    ANONYMOUS: z.enum(["deny", "allow"]).default("deny"),
    JWT_JWKS_URL: z.union([z.literal(""), z.url({ protocol: /^https?$/ })]).default(""),
    JWT_ISSUER: text,
    JWT_AUDIENCE: text,
    JWT_TENANT_CLAIM: z.string().min(1).default("tenant"),
    ADMIN_TOKEN: text,
    VIEWER_TOKEN: text,
  })
  .refine((vars) => vars.BODY_BYTES_MAX <= vars.QUEUE_BYTES_MAX, {
    path: ["BODY_BYTES_MAX"],
    message: "must not be larger than QUEUE_BYTES_MAX, or such a body never fits",
  })
  .refine((vars) => vars.JWT_JWKS_URL === "" || (vars.JWT_ISSUER !== "" && vars.JWT_AUDIENCE !== ""), {
    path: ["JWT_JWKS_URL"],
    message: "needs JWT_ISSUER and JWT_AUDIENCE, or tokens made for others would be taken",
  });

export type Config = Readonly<z.infer<typeof variables>>;

/** The names that may be set, for a command line that wants to refuse a misspelt one. */
export const CONFIG_NAMES: readonly string[] = Object.keys(variables.shape);

/**
 * @param vars the Worker's environment or a command line's settings; bindings among them are passed over
 * @returns the checked configuration, frozen
 * @throws Error with one line per bad variable: its name, what is wrong, what was given
 */
export function parseConfig(vars: Readonly<Record<string, unknown>>): Config {
  const parsed = variables.safeParse(vars);
  if (parsed.success) return Object.freeze(parsed.data);
  const lines = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `${name}: ${issue.message} (given: ${JSON.stringify(vars[name])})`;
  });
  throw new Error(`bad configuration: ${lines.join("; ")}`);
}

const parsedOf = new WeakMap<object, Config>();

/** {@link parseConfig} for a Worker's `env`, worked out once per environment object. */
export function configOf(env: object): Config {
  const known = parsedOf.get(env);
  if (known !== undefined) return known;
  const config = parseConfig(Object.fromEntries(Object.entries(env)));
  parsedOf.set(env, config);
  return config;
}
