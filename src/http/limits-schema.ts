import { z } from "@hono/zod-openapi";
import { gcd } from "../core/arithmetic.ts";
import { LIMITER_MODES } from "../core/lease.ts";
import {
  BURST_MAX,
  DEFAULT_POLICY_NAME,
  isCountable,
  LIMIT_MAX,
  PER_SECONDS_MAX,
  POLICIES_MAX,
  POLICY_NAME_LENGTH_MAX,
  type Policy,
  RATE_MAX,
  type Rate,
  RESERVED_POLICY_NAMES,
  rateFromNumber,
  SCOPES,
  type Scope,
  type TokenBucketPolicy,
  tokenBucketPolicy,
  WINDOW_SECONDS_MAX,
  WINDOW_TYPES,
} from "../core/policy.ts";
import { WEIGHT_MAX, WEIGHT_MIN } from "../core/weight.ts";
import type { TierSettings } from "../store/tiers.ts";

/**
 * Limits as an admin writes them and as they are shown. Whatever cannot be counted exactly is refused here, with the
 * name of its field, so that no object ever meets a policy that it cannot hold to.
 */

const RATE_FORM = "must be a finite number of tokens per second, or {tokens, perSeconds} in whole numbers";
const NOT_EXACT = "cannot be counted exactly; give it as {tokens, perSeconds} in whole numbers";
const NOT_EXACT_WITH_WINDOW = "cannot be counted exactly with this window; take a smaller limit or a shorter window";
const NOT_EXACT_WITH_BURST = "cannot be counted exactly with this burst; take a smaller burst or a simpler rate";

// JSON's 1e400 is read as Infinity, which is no number here.
const rateInput = z.union([z.number(), z.strictObject({ tokens: z.number(), perSeconds: z.number() })], {
  error: RATE_FORM,
});
const burstInput = z
  .number()
  .int("must be a whole number of tokens")
  .min(0, "must not be negative")
  .max(BURST_MAX, `must be at most ${BURST_MAX}`);

const nameInput = z
  .string()
  .regex(/^[\x20-\x7e]*$/, "must be printable ASCII")
  .min(1, "must not be empty")
  .max(POLICY_NAME_LENGTH_MAX, `must have at most ${POLICY_NAME_LENGTH_MAX} characters`)
  .refine((name) => !RESERVED_POLICY_NAMES.has(name), "is a name that Headgate uses itself");

const common = { name: nameInput.default(DEFAULT_POLICY_NAME), scope: z.enum(SCOPES).default("tenant") };
const bucketInput = z.strictObject({ ...common, type: z.literal("token-bucket"), rate: rateInput, burst: burstInput });
const windowInput = z.strictObject({
  ...common,
  type: z.enum(WINDOW_TYPES),
  limit: z
    .number()
    .int("must be a whole number")
    .min(0, "must not be negative")
    .max(LIMIT_MAX, `must be at most ${LIMIT_MAX}`),
  windowSeconds: z
    .number()
    .int("must be a whole number of seconds")
    .min(1, "must be at least 1")
    .max(WINDOW_SECONDS_MAX, `must be at most ${WINDOW_SECONDS_MAX}`),
});
const policyInput = z.discriminatedUnion("type", [bucketInput, windowInput]);

/** The rate that was meant, or what is wrong with it. */
function readRate(given: z.infer<typeof rateInput>): Rate | string {
  if (typeof given === "number") {
    if (given < 0) return "must not be negative";
    if (given > RATE_MAX) return `must be at most ${RATE_MAX} a second`;
    const rate = rateFromNumber(given);
    return rate === null || rate.perSeconds > PER_SECONDS_MAX ? NOT_EXACT : rate;
  }
  const { tokens, perSeconds } = given;
  if (!Number.isSafeInteger(tokens) || tokens < 0) return "tokens must be a whole number, not negative";
  if (!Number.isSafeInteger(perSeconds) || perSeconds < 1) return "perSeconds must be a whole number, at least 1";
  if (perSeconds > PER_SECONDS_MAX) return `perSeconds must be at most ${PER_SECONDS_MAX}`;
  return tokens > RATE_MAX * perSeconds ? `must be at most ${RATE_MAX} a second` : { tokens, perSeconds };
}

/** Adds a fault to what zod collects. */
function fault(context: z.RefinementCtx, path: PropertyKey[], message: string): void {
  context.addIssue({ code: "custom", path, message });
}

/** The policy of one rate and burst, or null after its faults were added. */
function readBucket(
  context: z.RefinementCtx,
  given: { name: string; scope?: Scope; rate: z.infer<typeof rateInput>; burst: number },
  ratePath: PropertyKey[],
): TokenBucketPolicy | null {
  const rate = readRate(given.rate);
  if (typeof rate === "string") {
    fault(context, ratePath, rate);
    return null;
  }
  const policy = { ...tokenBucketPolicy(rate, given.burst), name: given.name, scope: given.scope ?? "tenant" };
  if (isCountable(policy)) return policy;
  fault(context, ratePath, NOT_EXACT_WITH_BURST);
  return null;
}

const weightInput = z
  .number()
  .int("must be a whole number")
  .min(WEIGHT_MIN, `must be at least ${WEIGHT_MIN}`)
  .max(WEIGHT_MAX, `must be at most ${WEIGHT_MAX}`);

/** A tier's limits: two numbers, or a list of policies; its weight and limiter mode, null where they are not given. */
export const tierBody = z
  .strictObject({
    requestsPerSecond: rateInput.optional(),
    burstSize: burstInput.optional(),
    policies: z
      .array(policyInput)
      .min(1, "must hold at least one policy")
      .max(POLICIES_MAX, `must hold at most ${POLICIES_MAX} policies`)
      .optional(),
    weight: weightInput.optional(),
    limiterMode: z.enum(LIMITER_MODES).optional(),
  })
  .transform((body, context): TierSettings => {
    const { requestsPerSecond: rate, burstSize: burst, policies, weight = null, limiterMode = null } = body;
    if (policies !== undefined) {
      if (rate !== undefined) fault(context, ["requestsPerSecond"], "must not be given together with policies");
      if (burst !== undefined) fault(context, ["burstSize"], "must not be given together with policies");
      return { policies: readPolicies(context, policies), weight, limiterMode };
    }
    if (rate === undefined) fault(context, ["requestsPerSecond"], "is required, unless policies are given");
    if (burst === undefined) fault(context, ["burstSize"], "is required, unless policies are given");
    if (rate === undefined || burst === undefined) return z.NEVER;
    const policy = readBucket(context, { name: DEFAULT_POLICY_NAME, rate, burst }, ["requestsPerSecond"]);
    return policy === null ? z.NEVER : { policies: [policy], weight, limiterMode };
  })
  .openapi("TierLimits");

function readPolicies(context: z.RefinementCtx, given: readonly z.infer<typeof policyInput>[]): Policy[] {
  const names = new Set<string>();
  return given.flatMap((policy, index): Policy | never[] => {
    if (names.has(policy.name)) fault(context, ["policies", index, "name"], "is the name of another policy too");
    names.add(policy.name);
    if (policy.type === "token-bucket") return readBucket(context, policy, ["policies", index, "rate"]) ?? [];
    if (!isCountable(policy)) fault(context, ["policies", index, "limit"], NOT_EXACT_WITH_WINDOW);
    return policy;
  });
}

/** A tenant's own limits: two numbers, kept as such. */
export const tenantLimitsBody = z
  .strictObject({ requestsPerSecond: rateInput, burstSize: burstInput })
  .transform(({ requestsPerSecond, burstSize }, context) => {
    const given = { name: DEFAULT_POLICY_NAME, rate: requestsPerSecond, burst: burstSize };
    const policy = readBucket(context, given, ["requestsPerSecond"]);
    if (policy === null) return z.NEVER;
    const perSecond = perSecondOf(policy.rate);
    const stored = rateFromNumber(perSecond);
    // The table holds the number alone: it must read back as the ratio that was given.
    if (stored === null || !sameRate(stored, policy.rate)) {
      fault(context, ["requestsPerSecond"], "cannot be kept exactly as a number; give a simpler rate, or a tier");
      return z.NEVER;
    }
    return { requestsPerSecond: perSecond, burstSize };
  })
  .openapi("TenantLimits");

function perSecondOf({ tokens, perSeconds }: Rate): number {
  return tokens / perSeconds;
}

function sameRate(one: Rate, other: Rate): boolean {
  const [a, b] = [gcd(one.tokens, one.perSeconds), gcd(other.tokens, other.perSeconds)];
  return one.tokens / a === other.tokens / b && one.perSeconds / a === other.perSeconds / b;
}

/** A policy as it is shown. */
export const policyShape = z
  .discriminatedUnion("type", [
    z.object({
      name: z.string(),
      type: z.literal("token-bucket"),
      scope: z.enum(SCOPES),
      rate: z.object({ tokens: z.int(), perSeconds: z.int() }),
      burst: z.int(),
    }),
    z.object({
      name: z.string(),
      type: z.enum(WINDOW_TYPES),
      scope: z.enum(SCOPES),
      limit: z.int(),
      windowSeconds: z.int(),
    }),
  ])
  .openapi("Policy");

/** What limits look like; `requestsPerSecond` and `burstSize` where they would say the same, as one bucket per tenant. */
export const shownLimits = {
  policies: z.array(policyShape),
  requestsPerSecond: z.number().optional().describe("Where one bucket per tenant is all that there is."),
  burstSize: z.int().optional(),
};

interface ShownLimits {
  readonly policies: readonly Policy[];
  readonly requestsPerSecond?: number;
  readonly burstSize?: number;
}

export function showPolicies(policies: readonly Policy[]): ShownLimits {
  const [first, second] = policies;
  if (first?.type !== "token-bucket" || first.scope !== "tenant" || second !== undefined) return { policies };
  return { policies, requestsPerSecond: perSecondOf(first.rate), burstSize: first.burst };
}
