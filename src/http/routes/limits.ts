import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { CALLERS } from "../examples/callers.ts";
import { refuseRead } from "../middleware/limit-caller.ts";
import { limitTenant } from "../middleware/tenant-limit.ts";
import { policyReport } from "./check.ts";

/** `/v1/limits`: the caller's own tier and what is left of it. Charges nothing. */

const ownLimits = z
  .object({ tenant: z.string(), tier: z.string().nullable(), policies: z.array(policyReport) })
  .openapi("OwnLimits");

export function registerLimits(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/v1/limits",
      summary: "The caller's own limits and what is left",
      tags: ["limits"],
      docs: CALLERS.limits,
      responses: { 200: { description: "Tier, policies and what is left of each", schema: ownLimits } },
    },
    async (c) => {
      const refused = refuseRead(c);
      if (refused !== null) return refused;
      const look = await limitTenant(c, config, { cost: 0, critical: false });
      if (look instanceof Response) return look;
      const { tenant, tier } = c.get("caller");
      return c.json({ tenant, tier, policies: look.reports }, 200, { "Cache-Control": "no-store" });
    },
  );
}
