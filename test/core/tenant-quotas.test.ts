import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TenantHoldings } from "../../src/core/tenant-holdings.ts";
import { type QuotaName, quotaText, TENANT_QUOTAS } from "../../src/core/tenant-quotas.ts";

const quota = fc.constantFrom<QuotaName>("keys", "results", "process");
const tenant = fc.constantFrom("a", "b", "c");
const change = fc.record({ tenant, quota, size: fc.integer({ min: 0, max: 1000 }) });

describe("what tenants hold", () => {
  test("is the sum of what came, and as it was before when a transaction is undone", () => {
    fc.assert(
      fc.property(fc.array(change), fc.array(change), (kept, undone) => {
        const holdings = new TenantHoldings();
        const sums = new Map<string, number>();
        for (const { tenant, quota, size } of kept) {
          holdings.atomically(() => holdings.add(tenant, quota, size));
          sums.set(tenant + quota, (sums.get(tenant + quota) ?? 0) + size);
        }
        const transaction = () =>
          holdings.atomically(() => {
            for (const { tenant, quota, size } of undone) holdings.add(tenant, quota, size);
            throw new Error("undone");
          });
        expect(transaction).toThrow("undone");
        for (const { tenant, quota } of [...kept, ...undone]) {
          expect(holdings.of(tenant, quota)).toBe(sums.get(tenant + quota) ?? 0);
        }
      }),
    );
  });

  test("has room up to the quota, to the byte, for each tenant by itself", () => {
    const holdings = new TenantHoldings();
    holdings.add("a", "keys", TENANT_QUOTAS.keys.value - 1);
    expect([holdings.hasRoom("a", "keys", 1), holdings.hasRoom("a", "keys", 2)]).toEqual([true, false]);
    expect(holdings.hasRoom("b", "keys", 2)).toBe(true);
  });
});

test("a quota is named with its value and unit", () => {
  expect(quotaText("keys")).toBe("TENANT_KEY_BYTES_MAX of 33554432 bytes");
});
