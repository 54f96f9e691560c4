import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TOKEN_BUCKET_CASES } from "../support/token-bucket-cases.ts";
import { appOf, tenantWithKey } from "./admin-support.ts";

// Both ways of deciding say the same to one isolate, case by case, over HTTP: leased tokens are a shortcut, and no other
// limit.

const T0 = Date.parse("2026-10-01T12:00:00.000Z");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
});

interface Said {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfterSeconds?: number;
  readonly code?: string;
}

/** The answers to a case, by a Worker in this mode, after so many requests that make the isolate busy enough to lease. */
async function answersTo(mode: string, one: (typeof TOKEN_BUCKET_CASES)[number], warmUp: number): Promise<Said[]> {
  const tenant = `mode-${mode}-${one.id}-${warmUp}`;
  const ask = appOf({ LIMITER_MODE: mode });
  const { key } = await tenantWithKey(ask, tenant);
  const configure = async ({ burst, ratePerSecond: { tokens, perSeconds } }: (typeof one)["bucket"]) => {
    const policy = { type: "token-bucket", name: "requests", scope: "tenant", rate: { tokens, perSeconds }, burst };
    await ask("PUT", `/admin/tiers/${tenant.replaceAll(/[^a-z0-9_-]/g, "-")}`, { body: { policies: [policy] } });
    await ask("PUT", `/admin/tenants/${tenant}`, { body: { tier: tenant.replaceAll(/[^a-z0-9_-]/g, "-") } });
  };
  const check = async (cost: number) => {
    const headers = { Authorization: `Bearer ${key}` };
    const { status, body } = await ask("POST", "/v1/check", { headers, body: { cost }, env, leaveBehind: true });
    expect(status).toBe(200);
    return body as Said;
  };
  vi.setSystemTime(T0);
  await configure(one.bucket);
  for (let n = 0; n < warmUp; n++) await check(1);
  const answers: Said[] = [];
  for (const step of one.steps) {
    vi.setSystemTime(T0 + step.at * 1000);
    if (step.op === "configure") await configure(step.bucket ?? one.bucket);
    else answers.push(await check(step.op === "peek" ? 0 : (step.cost ?? 1)));
  }
  return answers;
}

describe("leased and exact answer alike", () => {
  test.each(TOKEN_BUCKET_CASES.map((one) => [one.id, one.rule, one] as const))("%s: %s", async (_id, _rule, one) => {
    const leased = await answersTo("leased", one, 0);
    expect(leased).toEqual(await answersTo("exact", one, 0));
    const expected = one.steps.filter(({ op }) => op !== "configure").map(({ expect: said = {} }) => said);
    leased.forEach(({ allowed, remaining, retryAfterSeconds = null, code }, n) => {
      const said = { allowed, remaining, retryAfterSeconds, ...(code === undefined ? {} : { code }) };
      const { allowed: mayPass = allowed, ...rest } = expected[n] ?? {};
      expect({ ...said, allowed }).toMatchObject({ allowed: mayPass, ...rest });
    });
  });

  test.each(TOKEN_BUCKET_CASES.map((one) => [one.id, one.rule, one] as const))(
    "also when the isolate is busy: %s: %s",
    async (_id, _rule, one) => {
      expect(await answersTo("leased", one, 12)).toEqual(await answersTo("exact", one, 12));
    },
  );
});
