import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { IDLE_FLUSH_MS } from "../../src/core/charge-ahead.ts";
import { settled } from "../support/event-loop.ts";
import { call, VIEWER } from "../support/http.ts";

/**
 * Tenants' objects that fall idle when a test says so: the timers by which they notice it are held back, and run inside
 * the object that set them. All other timers, those of leases at the edge among them, are real. Tests stay far from the machine's own time, which sets
 * off alarms.
 */

let held: (() => void)[] = [];

/** Begins to hold timers back; undone by `vi.restoreAllMocks`. Time is the test's already. */
export function holdIdleTimers(): void {
  held = [];
  const real = globalThis.setTimeout;
  const holding = (work: () => void, ms?: number): unknown => {
    if (ms !== IDLE_FLUSH_MS) return real(work, ms);
    held.push(work);
    return 0;
  };
  vi.spyOn(globalThis, "setTimeout").mockImplementation(holding as typeof setTimeout);
}

/** A tenant's object hears of what the edge decided by itself, and then of nothing more until it is idle. */
export async function fallIdle(tenant: string): Promise<void> {
  await call("GET", `/admin/tenants/${encodeURIComponent(tenant)}/usage`, VIEWER);
  await runIdleTimers(`tenant:${tenant}`);
}

/** As {@link fallIdle}; then the object's alarm rings, as it would in the next minute, and D1 is told its usage. */
export async function tellDatabase(tenant: string): Promise<void> {
  await fallIdle(tenant);
  await runDurableObjectAlarm(env.TENANT_LIMITER.get(env.TENANT_LIMITER.idFromName(`tenant:${tenant}`)));
}

/** As {@link fallIdle}, for any object by its name: whatever is held back is taken for its own. */
export async function runIdleTimers(name: string): Promise<void> {
  vi.setSystemTime(Date.now() + IDLE_FLUSH_MS);
  const due = held;
  held = [];
  const object = env.TENANT_LIMITER.get(env.TENANT_LIMITER.idFromName(name));
  await runInDurableObject(object, () => {
    for (const work of due) work();
  });
  await settled();
}
