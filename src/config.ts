import { z } from "@hono/zod-openapi";
import { ALGORITHMS, changeFlow, type FlowChecked, type FlowSettings } from "./core/flow-control/settings.ts";

/**
 * The deployment's variables, checked once and frozen. A bad one stops the start and is named; a missing one has its
 * default. Defaults, units and ranges are here, the reasons for each in wrangler.toml.
 */

const whole = (min: number, max: number, fallback: number) =>
  z.preprocess(
    // An empty text is a variable that is not set, and no zero.
    (given) => (given === "" || given === undefined ? fallback : given),
    z.coerce.number().int().min(min).max(max),
  );
const text = z.string().default("");

const variables = z
  .object({
    QUEUE_MAX: whole(1, 1_000_000, 10_000),
    QUEUE_BYTES_MAX: whole(1024, 64 * 1024 * 1024, 32 * 1024 * 1024),
    ENQUEUE_WAIT_MS: whole(0, 60_000, 5_000),
    ENQUEUE_WAITERS_MAX: whole(0, 10_000, 100),
    BODY_BYTES_MAX: whole(1024, 1024 * 1024, 256 * 1024),
    ENGINE_RATE_MAX: whole(0, 100_000, 0),
    ENGINE_PARTITIONS: whole(1, 1024, 1),
    FLOW_ALGORITHM: z.enum(ALGORITHMS).default("aimd"),
    FLOW_WINDOWED: z.enum(["off", "on"]).default("off"),
    FLOW_PARAMETERS: z.string().default("{}").transform(parseParameters),
    WRITE_RATE: whole(0, 1_000_000, 0),
    WRITE_BURST: whole(0, 1_000_000, 0),
    WRITE_WARM_UP_SECONDS: whole(0, 86_400, 0),
    FINISHED_KEEP_HOURS: whole(1, 24 * 30, 24),
    FINISHED_KEEP_MAX: whole(1_000, 20_000_000, 1_000_000),
    FINISHED_KEEP_BYTES: whole(1024 * 1024, 4 * 1024 ** 3, 1024 ** 3),
    IDENTITY_CACHE_MS: whole(0, 300_000, 10_000),
    LIMITER_TIMEOUT_MS: whole(1, 60_000, 1_000),
    ADAPTIVE_TENANT_RATE: z.enum(["off", "on"]).default("off"),
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

export type Config = Readonly<Variables & { flow: FlowSettings }>;

type Variables = z.infer<typeof variables>;

/** The names that may be set, for a command line that wants to refuse a misspelt one. */
export const CONFIG_NAMES: readonly string[] = Object.keys(variables.shape);

/**
 * @param vars the Worker's environment or a command line's settings; bindings among them are passed over
 * @returns the checked configuration, frozen
 * @throws Error with one line per bad variable: its name, what is wrong, what was given
 */
export function parseConfig(vars: Readonly<Record<string, unknown>>): Config {
  const parsed = variables.safeParse(vars);
  if (parsed.success) {
    const flow = deployedFlow(parsed.data);
    if (flow.ok) return Object.freeze({ ...parsed.data, flow: flow.settings });
    const faults = flow.faults.map(({ path, message }) => `${path} ${message}`).join("; ");
    throw new Error(`bad configuration: FLOW_PARAMETERS: ${faults}`);
  }
  const lines = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `${name}: ${issue.message} (given: ${JSON.stringify(vars[name])})`;
  });
  throw new Error(`bad configuration: ${lines.join("; ")}`);
}

function parseParameters(given: string, context: z.RefinementCtx): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(given);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Said below, like anything else that is no object.
  }
  context.addIssue({ code: "custom", message: "must be a JSON object of the algorithm's parameters" });
  return z.NEVER;
}

/** The engine's limits as the deployment sets them, before any operator changes them. */
function deployedFlow(vars: Variables): FlowChecked {
  const writeRate = { perSecond: vars.WRITE_RATE, burst: vars.WRITE_BURST || vars.WRITE_RATE };
  const base: FlowSettings = {
    bound: vars.QUEUE_MAX,
    boundBytes: vars.QUEUE_BYTES_MAX,
    enqueueWaitMs: vars.ENQUEUE_WAIT_MS,
    algorithm: "none",
    windowed: vars.FLOW_WINDOWED === "on",
    parameters: {},
    writeRate: vars.WRITE_RATE === 0 ? null : { ...writeRate, warmUpSeconds: vars.WRITE_WARM_UP_SECONDS },
  };
  return changeFlow(base, { algorithm: vars.FLOW_ALGORITHM, parameters: vars.FLOW_PARAMETERS });
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
