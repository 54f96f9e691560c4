import { expect, test } from "vitest";
import { TenantHoldings } from "../../src/core/tenant-holdings.ts";
import { TENANT_QUOTAS } from "../../src/core/tenant-quotas.ts";
import { addProcessHoldings } from "../../src/executor/embedded/holdings.ts";
import { type Engine, SECOND, T0, withEngine } from "./harness.ts";

/** Whether what is counted in memory is what a restart would count. */
function isExact({ sql, holdings }: Engine, tenants: readonly string[]): void {
  const counted = new TenantHoldings();
  addProcessHoldings(sql, counted);
  for (const tenant of tenants) {
    expect(holdings.of(tenant, "process")).toBe(counted.of(tenant, "process"));
    expect(holdings.of(tenant, "definitions")).toBe(counted.of(tenant, "definitions"));
  }
}

test("what a tenant holds is counted exactly over whatever comes and goes", () =>
  withEngine((engine) => {
    engine.deploy("a", "p", ["t", "u"]);
    engine.deploy("b", "p", ["t"]);
    const keys = Array.from({ length: 4 }, (_, n) => engine.start("a", "p", { n, text: "é".repeat(100 * n) }));
    engine.start("b", "p");
    isExact(engine, ["a", "b"]);
    const [first, second] = engine.activate("a", "t", T0, { maxJobs: 2 });
    engine.ok("a", "JOB:FAIL", { jobKey: first?.jobKey ?? "", retries: 1, variables: { why: "x".repeat(500) } });
    engine.ok("a", "JOB:COMPLETE", { jobKey: second?.jobKey ?? "", variables: { more: "y".repeat(900) } });
    isExact(engine, ["a", "b"]);
    const [third] = engine.activate("a", "t", T0, { maxJobs: 1 });
    engine.ok("a", "JOB:FAIL", { jobKey: third?.jobKey ?? "", retries: 0, errorMessage: "broken" });
    engine.ok("a", "PROCESS_INSTANCE:CANCEL", { processInstanceKey: keys[3] ?? "" });
    isExact(engine, ["a", "b"]);
    engine.executor.sweep(T0 + 7200 * SECOND);
    isExact(engine, ["a", "b"]);
    engine.executor.forget("a", 1_000_000);
    isExact(engine, ["a", "b"]);
    expect(engine.holdings.of("a", "process")).toBe(0);
    expect(engine.holdings.of("b", "process")).toBeGreaterThan(0);
  }));

test("past its quota a tenant starts nothing and adds no variables, and may end what it has; others go on", () =>
  withEngine((engine) => {
    for (const tenant of ["a", "b"]) engine.deploy(tenant, "p", ["t"]);
    const key = engine.start("a", "p");
    const [job] = engine.activate("a", "t");
    engine.holdings.add("a", "process", TENANT_QUOTAS.process.value);
    const refused = { state: "failed", error: { code: "quota_exceeded" } };
    const named = { error: { message: expect.stringContaining("TENANT_PROCESS_BYTES_MAX of 536870912 bytes") } };
    expect(engine.run("a", "PROCESS_INSTANCE:CREATE", { processId: "p" })).toMatchObject({ ...refused, ...named });
    const jobKey = job?.jobKey ?? "";
    expect(engine.run("a", "JOB:COMPLETE", { jobKey, variables: { n: 1 } })).toMatchObject(refused);
    expect(engine.run("b", "PROCESS_INSTANCE:CREATE", { processId: "p" })).toMatchObject({ state: "succeeded" });
    expect(engine.run("a", "JOB:COMPLETE", { jobKey })).toMatchObject({ state: "succeeded" });
    expect(engine.run("a", "PROCESS_INSTANCE:CANCEL", { processInstanceKey: key })).toMatchObject({ state: "failed" });
  }));

test("past its quota a tenant's oldest ended instances make room for new ones", () =>
  withEngine((engine) => {
    engine.deploy("a", "p", ["t"]);
    const ended = [1, 2, 3].map((n) => {
      const key = engine.start("a", "p", { text: "x".repeat(1000) }, T0 + n);
      engine.ok("a", "PROCESS_INSTANCE:CANCEL", { processInstanceKey: key }, T0 + n);
      return key;
    });
    const room = TENANT_QUOTAS.process.value - engine.holdings.of("a", "process");
    engine.holdings.add("a", "process", room + 1);
    engine.ok("a", "PROCESS_INSTANCE:CREATE", { processId: "p" }, T0 + 9);
    expect(ended.map((key) => engine.executor.instanceState("a", key)?.state)).toEqual([
      undefined,
      "TERMINATED",
      "TERMINATED",
    ]);
  }));
