import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { engineStatus } from "../../durable/engines.ts";
import { giveBackTold, takeTold } from "../edge-counts.ts";
import { type Api, endpoint } from "../endpoint.ts";

/** `/v1/queue`: how the engine stands, the same for every caller. `/admin/queue`: with what only operators see. */

const members = z.object({
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
});
const status = members.openapi("QueueStatus");
const operatorStatus = members
  .extend({
    /** Whether ordinary commands are taken, also while it is paused. */
    accepting: z.boolean(),
    /** What one more ordinary command would be told if it were refused now; null while there is room. */
    retryAfterSeconds: z.int().nullable(),
    partitions: z.int(),
  })
  .openapi("OperatorQueueStatus");

const NO_STORE = { "Cache-Control": "no-store" };

export function registerQueue(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/v1/queue",
      summary: "Depth, pace and counters of the command queue",
      tags: ["commands"],
      responses: { 200: { description: "The engine's state", schema: status } },
    },
    async (c) => {
      const { status: shown } = await askEngine(c.env, config);
      return c.json(shown, 200, NO_STORE);
    },
  );
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/queue",
      summary: "The same for operators: whether commands are taken, and what refused callers are told",
      tags: ["admin"],
      responses: { 200: { description: "The engine's state, of all partitions together", schema: operatorStatus } },
    },
    async (c) => {
      const { status: shown, accepting, retryAfterSeconds } = await askEngine(c.env, config);
      return c.json({ ...shown, accepting, retryAfterSeconds, partitions: config.ENGINE_PARTITIONS }, 200, NO_STORE);
    },
  );
}

/** How the engine stands; it hears what this isolate did without asking. */
async function askEngine(env: Env, config: Config): ReturnType<typeof engineStatus> {
  const told = takeTold();
  try {
    return await engineStatus(env, config, told);
  } catch (error) {
    giveBackTold(told);
    throw error;
  }
}
