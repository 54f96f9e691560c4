import { z } from "@hono/zod-openapi";
import type { Quota } from "./core/delivery/quota.ts";
import { ALGORITHMS, changeFlow, type FlowChecked, type FlowSettings } from "./core/flow-control/settings.ts";
import { type IntentTable, intentTable } from "./core/intents.ts";
import { LEASE_MS_MAX, LIMITER_MODES } from "./core/lease.ts";
import { parseOrigins } from "./core/origins.ts";
import { RETRY_AFTER_FORMULAS } from "./core/return-times.ts";
import { declares, parseRoutes, type UpstreamRoutes, withSurface } from "./executor/upstream/routes.ts";
import { parseSurface } from "./executor/upstream/surface.ts";
import { operatorToken } from "./identity/operator-token.ts";
import { tenantIdFault } from "./identity/tenant-id.ts";
import { baseUrlFault, urlFault } from "./wire/url-faults.ts";

/**
 * The deployment's variables, checked once and frozen. A bad one stops the start and is named; a missing one has its
 * default. Defaults, units and ranges are here, the reasons for each in wrangler.toml.
 */

const whole = (min: number, max: number, fallback: number) => {
  const rule = `must be a whole number from ${min} to ${max}`;
  const number = z.coerce.number(rule).int(rule).min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);
  // An empty text is a variable that is not set, and no zero.
  return z.preprocess((given) => (given === "" || given === undefined ? fallback : given), number);
};
const text = z.string().default("");

const variables = z
  .object({
    // What everything else calls the bound.
    QUEUE_MAX: whole(1, 1_000_000, 10_000),
    QUEUE_BYTES_MAX: whole(1024, 64 * 1024 * 1024, 32 * 1024 * 1024),
    ENQUEUE_WAIT_MS: whole(0, 60_000, 5_000),
    ENQUEUE_WAITERS_MAX: whole(0, 10_000, 100),
    BODY_BYTES_MAX: whole(1024, 1024 * 1024, 256 * 1024),
    ENGINE_RATE_MAX: whole(0, 100_000, 0),
    ENGINE_PARTITIONS: whole(1, 1024, 1),
    // Empty: what suits the executor.
    FLOW_ALGORITHM: z.union([z.literal(""), z.enum(ALGORITHMS)]).default(""),
    FLOW_WINDOWED: z.enum(["off", "on"]).default("off"),
    FLOW_PARAMETERS: z.string().default("{}").transform(parseParameters),
    WRITE_RATE: whole(0, 1_000_000, 0),
    WRITE_BURST: whole(0, 1_000_000, 0),
    WRITE_WARM_UP_SECONDS: whole(0, 86_400, 0),
    OVERFLOW: z.enum(["refuse", "defer"]).default("refuse"),
    DEFERRED_MAX: whole(1, 10_000_000, 100_000),
    RETRY_AFTER: z.enum(RETRY_AFTER_FORMULAS).default("places"),
    IDEMPOTENCY_KEEP_HOURS: whole(1, 24 * 30, 24),
    UPSTREAM_URL: z.string().default("").superRefine(checkBy(baseUrlFault)),
    UPSTREAM_ROUTES: z
      .string()
      .default("")
      .transform(readBy(parseRoutes, "must be a JSON object of routes by intent: ")),
    V2_ROUTES: z.string().default("").transform(readBy(parseSurface, "must be a JSON list of routes: ")),
    UPSTREAM_AUTHORIZATION: z
      .string()
      .regex(/^[\x20-\x7e]*$/, "must be one line of printable ASCII")
      .default(""),
    UPSTREAM_FORWARD_HEADERS: z.string().default("").transform(readBy(readHeaderNames)),
    UPSTREAM_CONCURRENCY: whole(1, 256, 1),
    UPSTREAM_TIMEOUT_MS: whole(1, 600_000, 30_000),
    UPSTREAM_RESPONSE_BYTES_MAX: whole(1024, 1024 * 1024, 256 * 1024),
    UPSTREAM_QUOTA_BURST: whole(0, 1_000_000, 0),
    UPSTREAM_QUOTA_PER_MINUTE: whole(0, 10_000_000, 0),
    UPSTREAM_BREAKER_FAILURES: whole(1, 1_000, 5),
    MAX_ATTEMPTS: whole(1, 100, 5),
    RETRY_BASE_MS: whole(1, 600_000, 1_000),
    RETRY_MAX_MS: whole(1, 3_600_000, 60_000),
    FINISHED_KEEP_HOURS: whole(1, 24 * 30, 24),
    FINISHED_KEEP_MAX: whole(1_000, 20_000_000, 1_000_000),
    FINISHED_KEEP_BYTES: whole(1024 * 1024, 4 * 1024 ** 3, 1024 ** 3),
    STORAGE_BYTES_MAX: whole(1024 * 1024, 9 * 1024 ** 3, 8 * 1024 ** 3),
    LOG_REQUESTS: z.enum(["off", "refused", "on"]).default("refused"),
    USAGE_KEEP_DAYS: whole(1, 400, 14),
    AUDIT_KEEP_DAYS: whole(0, 36_500, 400),
    IDENTITY_CACHE_MS: whole(0, 300_000, 10_000),
    LIMITER_TIMEOUT_MS: whole(1, 60_000, 1_000),
    LIMITER_MODE: z.enum(LIMITER_MODES).default("leased"),
    LEASE_MS: whole(1, LEASE_MS_MAX, LEASE_MS_MAX),
    ADAPTIVE_TENANT_RATE: z.enum(["off", "on"]).default("off"),
    LIMITER_FAILURE: z.enum(["open", "closed"]).default("open"),
    CORS_ORIGINS: z.string().default("").transform(readBy(parseOrigins)),
    ANONYMOUS: z.enum(["deny", "allow"]).default("deny"),
    LOCAL_TENANT: z.string().default("").superRefine(checkBy(tenantIdFault)),
    OAUTH_SECRET: z.union([z.literal(""), z.string().min(32)]).default(""),
    JWT_JWKS_URL: z.string().default("").superRefine(checkBy(urlFault)),
    JWT_ISSUER: text,
    JWT_AUDIENCE: text,
    JWT_TENANT_CLAIM: z.string().min(1).default("tenant"),
    JWT_UNKNOWN_TENANT: z.enum(["default-tier", "refuse"]).default("default-tier"),
    ADMIN_TOKEN: operatorToken,
    VIEWER_TOKEN: operatorToken,
  })
  .refine((vars) => vars.VIEWER_TOKEN === "" || vars.VIEWER_TOKEN !== vars.ADMIN_TOKEN, {
    path: ["VIEWER_TOKEN"],
    message: "must not be the ADMIN_TOKEN, or every viewer may write",
  })
  .refine((vars) => vars.BODY_BYTES_MAX <= vars.QUEUE_BYTES_MAX, {
    path: ["BODY_BYTES_MAX"],
    message: "must not be larger than QUEUE_BYTES_MAX, or such a body never fits",
  })
  .refine((vars) => vars.UPSTREAM_URL !== "" || !declares(vars.UPSTREAM_ROUTES), {
    path: ["UPSTREAM_ROUTES"],
    message: "needs UPSTREAM_URL: the embedded engine has no routes",
  })
  .refine((vars) => vars.UPSTREAM_QUOTA_BURST > 0 === vars.UPSTREAM_QUOTA_PER_MINUTE > 0, {
    path: ["UPSTREAM_QUOTA_PER_MINUTE"],
    message: "a quota is both a burst and a number a minute",
  })
  .refine((vars) => vars.UPSTREAM_QUOTA_BURST === 0 || vars.UPSTREAM_QUOTA_BURST >= vars.ENGINE_PARTITIONS, {
    path: ["UPSTREAM_QUOTA_BURST"],
    message: "must be at least ENGINE_PARTITIONS: each partition has its part of it",
  })
  .refine((vars) => vars.JWT_JWKS_URL === "" || (vars.JWT_ISSUER !== "" && vars.JWT_AUDIENCE !== ""), {
    path: ["JWT_JWKS_URL"],
    message: "needs JWT_ISSUER and JWT_AUDIENCE, or tokens made for others would be taken",
  });

export type Config = Readonly<
  Variables & {
    flow: FlowSettings;
    /** Which of the two stands behind the queue. */
    executor: "embedded" | "upstream";
    /** `/v2` leads to a cluster behind us: its rows are then declared, too. */
    cluster: boolean;
    /** Where intents go, by name and otherwise; none in front of the embedded engine. */
    routes: UpstreamRoutes;
    /** The intents that are taken by name. */
    intents: IntentTable;
    /** The quota of the backend that we were told of; null: none. */
    quota: Quota | null;
  }
>;

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
    if (flow.ok) return Object.freeze({ ...parsed.data, flow: flow.settings, ...derived(parsed.data) });
    const faults = flow.faults.map(({ path, message }) => `${path} ${message}`).join("; ");
    throw new Error(`bad configuration: FLOW_PARAMETERS: ${faults}`);
  }
  const lines = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `${name}: ${issue.message}${SECRETS.test(name) ? "" : ` (given: ${JSON.stringify(vars[name])})`}`;
  });
  throw new Error(`bad configuration: ${lines.join("; ")}`);
}

/** What may be wrong with these is said, what they are is not: it would stand in a log. */
const SECRETS = /_(SECRET|TOKEN|AUTHORIZATION|URL)$/;

function derived(vars: Variables): Pick<Config, "executor" | "cluster" | "routes" | "intents" | "quota"> {
  const executor = vars.UPSTREAM_URL === "" ? "embedded" : "upstream";
  // A backend with routes of its own is no cluster, unless the deployment says what the cluster's surface is.
  const cluster = executor === "upstream" && (vars.V2_ROUTES.declared || !declares(vars.UPSTREAM_ROUTES));
  const routes = cluster ? withSurface(vars.UPSTREAM_ROUTES, vars.V2_ROUTES.routes) : vars.UPSTREAM_ROUTES;
  const { UPSTREAM_QUOTA_BURST: burst, UPSTREAM_QUOTA_PER_MINUTE: perMinute, ENGINE_PARTITIONS: parts } = vars;
  return {
    executor,
    cluster,
    routes,
    intents: executor === "embedded" ? intentTable() : routes.byIntent,
    // Each partition goes by itself, with its part of the whole.
    quota: burst === 0 ? null : { burst: Math.floor(burst / parts), perMinute, parts },
  };
}

/** A check of a text that may be empty: it is then not set. */
function checkBy(faultOf: (text: string) => string | null) {
  return (given: string, context: z.RefinementCtx): void => {
    const fault = given === "" ? null : faultOf(given);
    if (fault !== null) context.addIssue({ code: "custom", message: fault });
  };
}

/** What is made of a text by a reader that says in a line what is wrong with it. @param what begins that line */
function readBy<T extends object>(read: (text: string) => T | string, what = "") {
  return (given: string, context: z.RefinementCtx): T => {
    const made = read(given);
    if (typeof made !== "string") return made;
    context.addIssue({ code: "custom", message: what + made });
    return z.NEVER;
  };
}

/** Belong to a connection, to a body, or to us: never handed on. */
const OWN_HEADERS =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-.*|authorization|x-api-key|cookie|idempotency-key|x-headgate-.*)$/;

function readHeaderNames(given: string): readonly string[] | string {
  const names = given
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((name) => name !== "");
  const bad = names.find((name) => !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || OWN_HEADERS.test(name));
  return bad === undefined ? names : `${bad} is not a header that can be handed on`;
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
  // A command's time in a queue in front of a slow backend says nothing of what may be in flight.
  const suited = vars.UPSTREAM_URL === "" ? "aimd" : "none";
  return changeFlow(base, { algorithm: vars.FLOW_ALGORITHM || suited, parameters: vars.FLOW_PARAMETERS });
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
