import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { engineStatus } from "../../durable/engines.ts";
import { countRefusal, takeRefusals } from "../edge.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { COMMANDS } from "../examples/commands.ts";

/** `/v1/queue`: how the engine stands, the same for every caller. */

const status = z
  .object({
    depth: z.int(),
    criticalDepth: z.int(),
    running: z.int(),
    retrying: z.int(),
    deferred: z.int(),
    inFlight: z.int(),
    bound: z.int(),
    depthPercent: z.number(),
    oldestWaitSeconds: z.number(),
    completedLastMinute: z.int(),
    pacePerSecond: z.number().nullable(),
    peakDepth: z.int(),
    paused: z.boolean(),
    upstream: z
      .object({ state: z.enum(["delivering", "waiting", "probing"]), resumesInSeconds: z.int().optional() })
      .optional(),
    limit: z.object({ algorithm: z.string(), value: z.number().nullable() }),
    counters: z.object({
      accepted: z.int(),
      completed: z.int(),
      failed: z.int(),
      dead: z.int(),
      cancelled: z.int(),
      expired: z.int(),
      refused: z.record(z.string(), z.int()),
    }),
  })
  .openapi("QueueStatus");

export function registerQueue(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/v1/queue",
      summary: "Depth, pace and counters of the command queue",
      tags: ["commands"],
      docs: COMMANDS.queue,
      responses: { 200: { description: "The engine's state", schema: status } },
    },
    async (c) => {
      const refusals = takeRefusals();
      try {
        return c.json(await engineStatus(c.env, config, refusals), 200, { "Cache-Control": "no-store" });
      } catch (error) {
        for (const [code, n] of Object.entries(refusals)) countRefusal(code, n);
        throw error;
      }
    },
  );
}
