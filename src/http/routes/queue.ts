import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { engineStatus } from "../../durable/engines.ts";
import { countRefusal, takeRefusals } from "../edge.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { COMMANDS } from "../examples/commands.ts";

/** `/v1/queue`: how the engine stands, the same for every caller. */

const status = z
  .object({
    depth: z.int().describe("Queued and not yet running, in the bounded lane."),
    criticalDepth: z.int().describe("Critical commands that wait, in a lane of their own."),
    running: z.int(),
    retrying: z.int().describe("Between two attempts; they keep their place in the bound."),
    deferred: z.int().describe("Saved with no work planned."),
    inFlight: z.int().describe("Accepted and not yet ended."),
    bound: z.int().describe("The most that may be queued. Exact."),
    depthPercent: z.number(),
    oldestWaitSeconds: z.number(),
    completedLastMinute: z.int(),
    pacePerSecond: z.number().nullable().describe("How fast commands really end; null: nothing was seen to wait yet."),
    peakDepth: z.int(),
    paused: z.boolean(),
    upstream: z
      .object({ state: z.enum(["delivering", "waiting", "probing"]), resumesInSeconds: z.int().optional() })
      .optional(),
    limit: z
      .object({ algorithm: z.string(), value: z.number().nullable() })
      .describe("How many may be in flight; null: without end."),
    counters: z.object({
      accepted: z.int(),
      completed: z.int(),
      failed: z.int(),
      dead: z.int(),
      cancelled: z.int(),
      expired: z.int(),
      refused: z.record(z.string(), z.int()).describe("By code."),
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
