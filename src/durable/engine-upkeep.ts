import type { Config } from "../config.ts";
import type { DiskReadiness } from "./engine-status.ts";
import { allEngines } from "./engines.ts";

/** Calls of all engine objects that concern their disks. */

/** Frees what a deleted tenant has in every partition, soon. @param tenant its `callerKey` */
export async function forgetTenant(env: Env, config: Config, tenant: string): Promise<void> {
  await Promise.all(allEngines(env, config).map((engine) => engine.forgetTenant(tenant)));
}

/** How the engines are as a part of the deployment. */
export type EngineReadiness = DiskReadiness | "unavailable";

/** Whether every engine answers, and can take commands; that of the worst. */
export async function engineReadiness(env: Env, config: Config): Promise<EngineReadiness> {
  try {
    const all = await Promise.all(allEngines(env, config).map((engine) => engine.readiness()));
    return all.find((one) => one !== "ok") ?? "ok";
  } catch {
    return "unavailable";
  }
}
