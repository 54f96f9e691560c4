import { describe, expect, test } from "vitest";
import { criticalCeiling } from "../../src/core/critical-ceiling.ts";
import {
  isCountable,
  type Policy,
  RESERVED_POLICY_NAMES,
  rateFromNumber,
  type Scope,
  type WindowPolicy,
} from "../../src/core/policy.ts";
import { fieldFaults } from "../../src/http/check.ts";
import { showPolicies, tenantLimitsBody, tierBody } from "../../src/http/limits-schema.ts";

/** As a request brings it: through JSON. */
function read(schema: typeof tierBody | typeof tenantLimitsBody, json: string) {
  const parsed = schema.safeParse(JSON.parse(json));
  if (parsed.success) return { value: parsed.data };
  return { faults: fieldFaults(parsed.error.issues).map(({ path, message }) => `${path}: ${message}`) };
}

const bucket = (tokens: number, perSeconds: number, burst: number, name = "requests"): Policy => ({
  type: "token-bucket",
  name,
  scope: "tenant",
  rate: { tokens, perSeconds },
  burst,
});
const windowOf = (
  type: WindowPolicy["type"],
  name: string,
  scope: Scope,
  limit: number,
  windowSeconds: number,
): Policy => ({ type, name, scope, limit, windowSeconds });
const policies = (...given: string[]) => `{"policies":[${given.join(",")}]}`;
const one = (fields: string) => policies(`{"type":"token-bucket",${fields}}`);
const fixed = (fields: string) => policies(`{"type":"fixed-window",${fields}}`);

describe("limits that can be counted", () => {
  test.for<[string, string, Policy[]]>([
    ["two numbers", '{"requestsPerSecond":50,"burstSize":100}', [bucket(50, 1, 100)]],
    ["a tenth", '{"requestsPerSecond":0.1,"burstSize":1}', [bucket(1, 10, 1)]],
    ["a third, as a ratio", '{"requestsPerSecond":{"tokens":1,"perSeconds":3},"burstSize":1}', [bucket(1, 3, 1)]],
    ["nothing at all", '{"requestsPerSecond":0,"burstSize":0}', [bucket(0, 1, 0)]],
    ["the most", '{"requestsPerSecond":1000000000,"burstSize":1000000000}', [bucket(1e9, 1, 1e9)]],
    ["a policy", one('"rate":5,"burst":9'), [bucket(5, 1, 9)]],
    [
      "two policies",
      policies(
        '{"type":"token-bucket","name":"second","scope":"tenant","rate":50,"burst":100}',
        '{"type":"token-bucket","name":"day \\"x\\"","rate":{"tokens":1000,"perSeconds":86400},"burst":1000}',
      ),
      [bucket(50, 1, 100, "second"), bucket(1000, 86400, 1000, 'day "x"')],
    ],
    [
      "windows, with scopes",
      policies(
        '{"type":"fixed-window","name":"minute","limit":30,"windowSeconds":60}',
        '{"type":"sliding-window","name":"user","scope":"key","limit":5,"windowSeconds":1}',
        '{"type":"token-bucket","name":"address","scope":"ip","rate":5,"burst":9}',
        '{"type":"fixed-window","name":"credential","scope":"credential","limit":0,"windowSeconds":31536000}',
      ),
      [
        windowOf("fixed-window", "minute", "tenant", 30, 60),
        windowOf("sliding-window", "user", "key", 5, 1),
        { ...bucket(5, 1, 9, "address"), scope: "ip" },
        windowOf("fixed-window", "credential", "credential", 0, 31_536_000),
      ],
    ],
    [
      "the most in a window that is still exact",
      policies('{"type":"sliding-window","limit":1000000000,"windowSeconds":4503}'),
      [windowOf("sliding-window", "requests", "tenant", 1e9, 4503)],
    ],
  ])("%s", ([, json, expected]) => {
    expect(read(tierBody, json)).toEqual({ value: { policies: expected, weight: null, limiterMode: null } });
  });

  test.for([1, 7, 1000])("a weight of %i is kept beside them", (weight) => {
    const json = `{"requestsPerSecond":50,"burstSize":100,"weight":${weight}}`;
    expect(read(tierBody, json)).toEqual({ value: { policies: [bucket(50, 1, 100)], weight, limiterMode: null } });
  });
});

const RPS = "requestsPerSecond";
const EXACT = "cannot be counted exactly; give it as {tokens, perSeconds} in whole numbers";
const FORM = "must be a finite number of tokens per second, or {tokens, perSeconds} in whole numbers";

describe("limits that cannot, with the name of the field", () => {
  test.for<[string, string, string[]]>([
    [
      "nothing given",
      "{}",
      [`${RPS}: is required, unless policies are given`, "burstSize: is required, unless policies are given"],
    ],
    ["a rate alone", '{"requestsPerSecond":1}', ["burstSize: is required, unless policies are given"]],
    [
      "both forms",
      '{"burstSize":1,"policies":[{"type":"token-bucket","rate":1,"burst":1}]}',
      ["burstSize: must not be given together with policies"],
    ],
    ["a negative rate", '{"requestsPerSecond":-1,"burstSize":1}', [`${RPS}: must not be negative`]],
    ["an infinite rate", '{"requestsPerSecond":1e400,"burstSize":1}', [`${RPS}: ${FORM}`]],
    ["a rate that is a text", '{"requestsPerSecond":"5","burstSize":1}', [`${RPS}: ${FORM}`]],
    [
      "a rate with a stray field",
      '{"requestsPerSecond":{"tokens":1,"perSeconds":1,"x":1},"burstSize":1}',
      [`${RPS}.x: unknown field`],
    ],
    [
      "a rate too large",
      '{"requestsPerSecond":1000000001,"burstSize":1}',
      [`${RPS}: must be at most 1000000000 a second`],
    ],
    [
      "a ratio too large",
      '{"requestsPerSecond":{"tokens":2000000001,"perSeconds":2},"burstSize":1}',
      [`${RPS}: must be at most 1000000000 a second`],
    ],
    ["a rate too small to be meant", '{"requestsPerSecond":1e-300,"burstSize":0}', [`${RPS}: ${EXACT}`]],
    ["a rate that is no simple ratio", '{"requestsPerSecond":0.12345678901,"burstSize":0}', [`${RPS}: ${EXACT}`]],
    [
      "half a token",
      '{"requestsPerSecond":{"tokens":0.5,"perSeconds":1},"burstSize":1}',
      [`${RPS}: tokens must be a whole number, not negative`],
    ],
    [
      "no seconds",
      '{"requestsPerSecond":{"tokens":1,"perSeconds":0},"burstSize":1}',
      [`${RPS}: perSeconds must be a whole number, at least 1`],
    ],
    [
      "a century",
      '{"requestsPerSecond":{"tokens":1,"perSeconds":3000000000},"burstSize":1}',
      [`${RPS}: perSeconds must be at most 1000000000`],
    ],
    [
      "a fraction of a burst",
      '{"requestsPerSecond":1,"burstSize":1.5}',
      ["burstSize: must be a whole number of tokens"],
    ],
    ["a negative burst", '{"requestsPerSecond":1,"burstSize":-1}', ["burstSize: must not be negative"]],
    ["a burst too large", '{"requestsPerSecond":1,"burstSize":1000000001}', ["burstSize: must be at most 1000000000"]],
    [
      "a pair that is too fine together",
      '{"requestsPerSecond":{"tokens":1,"perSeconds":999999937},"burstSize":1000000000}',
      [`${RPS}: cannot be counted exactly with this burst; take a smaller burst or a simpler rate`],
    ],
    ["no weight at all", '{"requestsPerSecond":1,"burstSize":1,"weight":0}', ["weight: must be at least 1"]],
    ["a weight too large", '{"requestsPerSecond":1,"burstSize":1,"weight":1001}', ["weight: must be at most 1000"]],
    ["half a weight", '{"requestsPerSecond":1,"burstSize":1,"weight":1.5}', ["weight: must be a whole number"]],
    ["a stray field", '{"requestsPerSecond":1,"burstSize":1,"x":1}', ["x: unknown field"]],
    ["a stray field in a policy", one('"rate":1,"burst":1,"x":1'), ["policies.0.x: unknown field"]],
    ["no policy", '{"policies":[]}', ["policies: must hold at least one policy"]],
    [
      "17 policies",
      policies(...new Array(17).fill('{"type":"token-bucket","rate":1,"burst":1}')),
      ["policies: must hold at most 16 policies"],
    ],
    [
      "two policies of one name",
      policies('{"type":"token-bucket","rate":1,"burst":1}', '{"type":"token-bucket","rate":2,"burst":1}'),
      ["policies.1.name: is the name of another policy too"],
    ],
    ["a bad rate in a policy", one('"rate":-1,"burst":1'), ["policies.0.rate: must not be negative"]],
    [
      "a name of our own",
      one('"name":"critical-ceiling","rate":1,"burst":1'),
      ["policies.0.name: is a name that Headgate uses itself"],
    ],
    ["a name that is not ASCII", one('"name":"ä","rate":1,"burst":1'), ["policies.0.name: must be printable ASCII"]],
    ["half a count", fixed('"limit":1.5,"windowSeconds":1'), ["policies.0.limit: must be a whole number"]],
    ["a negative count", fixed('"limit":-1,"windowSeconds":1'), ["policies.0.limit: must not be negative"]],
    [
      "a count too large",
      fixed('"limit":1000000001,"windowSeconds":1'),
      ["policies.0.limit: must be at most 1000000000"],
    ],
    ["no time at all", fixed('"limit":1,"windowSeconds":0'), ["policies.0.windowSeconds: must be at least 1"]],
    [
      "a second and a half",
      fixed('"limit":1,"windowSeconds":1.5'),
      ["policies.0.windowSeconds: must be a whole number of seconds"],
    ],
    [
      "more than a year",
      fixed('"limit":1,"windowSeconds":31536001'),
      ["policies.0.windowSeconds: must be at most 31536000"],
    ],
    [
      "a count that is too fine in its window",
      fixed('"limit":1000000000,"windowSeconds":4504'),
      ["policies.0.limit: cannot be counted exactly with this window; take a smaller limit or a shorter window"],
    ],
    [
      "a window with a bucket's fields",
      fixed('"limit":1,"windowSeconds":1,"burst":1'),
      ["policies.0.burst: unknown field"],
    ],
    ["a bucket with a window's fields", one('"rate":1,"burst":1,"limit":1'), ["policies.0.limit: unknown field"]],
    [
      "a window and a bucket of one name",
      policies('{"type":"fixed-window","limit":1,"windowSeconds":1}', '{"type":"token-bucket","rate":2,"burst":1}'),
      ["policies.1.name: is the name of another policy too"],
    ],
    ["an empty name", one('"name":"","rate":1,"burst":1'), ["policies.0.name: must not be empty"]],
    [
      "a name of 65",
      one(`"name":"${"a".repeat(65)}","rate":1,"burst":1`),
      ["policies.0.name: must have at most 64 characters"],
    ],
  ])("%s", ([, json, faults]) => {
    expect(read(tierBody, json)).toEqual({ faults });
  });

  test.for<[string, string]>([
    ["another type", policies('{"type":"sliding-window","rate":1,"burst":1}')],
    ["another scope", one('"scope":"planet","rate":1,"burst":1')],
    ["a list", "[]"],
    ["null", "null"],
  ])("%s is refused", ([, json]) => {
    expect(read(tierBody, json)).toHaveProperty("faults");
  });

  test("every name of the limiter's own policies is reserved", () => {
    const [own] = criticalCeiling({ version: 1, policies: [bucket(1, 1, 1)] }).policies;
    expect(RESERVED_POLICY_NAMES.has(own?.name ?? "")).toBe(true);
  });
});

describe("a tenant's own limits", () => {
  test.for<[number, number]>([
    [1, 3],
    [100, 86_400],
    [7, 11],
    [999_999_937, 1000],
    [1, 31_536_000],
    [0, 5],
  ])("%i tokens in %i s are kept as a number that reads back as that ratio", ([tokens, perSeconds]) => {
    const json = JSON.stringify({ requestsPerSecond: { tokens, perSeconds }, burstSize: 1 });
    const { value } = read(tenantLimitsBody, json);
    expect(value).toEqual({ requestsPerSecond: tokens / perSeconds, burstSize: 1 });
    const back = rateFromNumber(tokens / perSeconds);
    expect(back && back.tokens * perSeconds).toBe(back && tokens * back.perSeconds);
    expect(back && isCountable(bucket(back.tokens, back.perSeconds, 1))).toBe(true);
  });

  test("a ratio that no number holds is refused", () => {
    const json = JSON.stringify({ requestsPerSecond: { tokens: 999_999_937, perSeconds: 999_999_929 }, burstSize: 0 });
    expect(read(tenantLimitsBody, json)).toEqual({
      faults: [`${RPS}: cannot be kept exactly as a number; give a simpler rate, or a tier`],
    });
  });

  test("are two numbers and no list", () => {
    expect(read(tenantLimitsBody, one('"rate":1,"burst":1'))).toHaveProperty("faults");
    expect(read(tenantLimitsBody, '{"requestsPerSecond":1}')).toHaveProperty("faults");
  });
});

describe("limits as they are shown", () => {
  test("the two numbers are there where one token bucket is all there is", () => {
    expect(showPolicies([bucket(1, 4, 9)])).toEqual({
      policies: [bucket(1, 4, 9)],
      requestsPerSecond: 0.25,
      burstSize: 9,
    });
    for (const others of [
      [bucket(1, 4, 9), bucket(1, 4, 9, "other")],
      [{ ...bucket(1, 4, 9), scope: "ip" as const }],
      [windowOf("fixed-window", "minute", "tenant", 30, 60)],
    ]) {
      expect(showPolicies(others)).toEqual({ policies: others });
    }
  });
});
