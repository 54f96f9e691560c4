import type { Json } from "../../core/json.ts";
import type { Policy, Scope } from "../../core/policy.ts";
import { duration, whole } from "../shared/numbers.ts";

/** Limits in words, and as they are typed. Texts in, texts out; what a value may be is the route's to say. Pure. */

const WHOSE: Readonly<Record<Scope, string>> = {
  tenant: "",
  credential: " for each credential",
  ip: " for each address",
  key: " for each key that is named",
};

/** One limit in words: "100/s, burst 200"; "5,000 in 1 min, sliding, for each credential". */
export function policyInWords(policy: Policy): string {
  const whose = WHOSE[policy.scope];
  if (policy.type !== "token-bucket") {
    const kind = policy.type === "sliding-window" ? "sliding" : "fixed";
    return `${whole(policy.limit)} in ${duration(policy.windowSeconds)}, ${kind}${whose}`;
  }
  const { tokens, perSeconds } = policy.rate;
  const rate = perSeconds === 1 ? `${whole(tokens)}/s` : `${whole(tokens)} in ${duration(perSeconds)}`;
  return `${rate}, burst ${whole(policy.burst)}${whose}`;
}

/** One limit as it is typed. For a window `amount` in `seconds` is what it admits, for a bucket what comes back. */
export interface PolicyForm {
  readonly type: Policy["type"];
  readonly scope: Scope;
  readonly name: string;
  readonly amount: string;
  readonly seconds: string;
  /** Of a bucket. */
  readonly burst: string;
}

export const NEW_POLICY: PolicyForm = {
  type: "token-bucket",
  scope: "tenant",
  name: "requests",
  amount: "100",
  seconds: "1",
  burst: "200",
};

export function formOfPolicy(policy: Policy): PolicyForm {
  const { type, scope, name } = policy;
  return policy.type === "token-bucket"
    ? {
        type,
        scope,
        name,
        amount: String(policy.rate.tokens),
        seconds: String(policy.rate.perSeconds),
        burst: String(policy.burst),
      }
    : { type, scope, name, amount: String(policy.limit), seconds: String(policy.windowSeconds), burst: "" };
}

/** As the route takes it. */
export function policyOf({ type, scope, name, amount, seconds, burst }: PolicyForm): Json {
  return type === "token-bucket"
    ? { type, scope, name, rate: { tokens: numberOf(amount), perSeconds: numberOf(seconds) }, burst: numberOf(burst) }
    : { type, scope, name, limit: numberOf(amount), windowSeconds: numberOf(seconds) };
}

/** Where the route says what is wrong with a limit's numbers, by what they are typed into. */
export function faultPathsOf(type: Policy["type"], index: number): { amount: string; seconds: string; burst: string } {
  const at = `policies.${index}`;
  return type === "token-bucket"
    ? { amount: `${at}.rate`, seconds: `${at}.rate.perSeconds`, burst: `${at}.burst` }
    : { amount: `${at}.limit`, seconds: `${at}.windowSeconds`, burst: `${at}.burst` };
}

/** What was typed, as a number where it is one, else as the text that it is: the route then says what it wanted. */
export function numberOf(text: string): number | string {
  const bare = text.replaceAll(/[\s_]/g, "");
  return bare !== "" && Number.isFinite(Number(bare)) ? Number(bare) : text;
}
