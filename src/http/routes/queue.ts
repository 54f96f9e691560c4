import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import type { Problem } from "../../core/problem.ts";
import { SharedAnswer } from "../../core/shared-answer.ts";
import { engineStatus } from "../../durable/engines.ts";
import { giveBackTold, takeTold } from "../edge-counts.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { COMMANDS } from "../examples/commands.ts";
import { refuseRead } from "../middleware/limit-caller.ts";
import { problem } from "../problem.ts";

/** `/v1/queue`: how the engine stands, the same for every caller. `/admin/queue`: with what only operators see. */

const members = z.object({
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
  pacePerSecond: z
    .number()
    .nullable()
    .describe("How fast commands end, held to a known speed; null: nothing was seen to wait yet."),
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
});
const status = members.openapi("QueueStatus");
const operatorStatus = members
  .extend({
    accepting: z.boolean().describe("Ordinary commands are taken, also while it is paused."),
    retryAfterSeconds: z
      .int()
      .nullable()
      .describe("What one more ordinary command would be told if it were refused now; null while there is room."),
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
      docs: COMMANDS.queue,
      responses: { 200: { description: "The engine's state", schema: status } },
    },
    async (c) => {
      const refused = refuseRead(c);
      if (refused !== null) return refused;
      const nowMs = c.get("nowMs");
      const next = shared.next(nowMs);
      if (next.kind === "busy") return problem(c, BUSY);
      const { status: shown } = next.kind === "kept" ? next.value : await askEngine(c.env, config, nowMs);
      return c.json(shown, 200, NO_STORE);
    },
  );
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/queue",
      summary: "The same for operators: whether commands are taken, and what refused callers are told",
      tags: ["operation"],
      docs: COMMANDS.operatorQueue,
      responses: { 200: { description: "The engine's state, of all partitions together", schema: operatorStatus } },
    },
    async (c) => {
      // An operator sees at once what a change has done.
      const { status: shown, accepting, retryAfterSeconds } = await askEngine(c.env, config, c.get("nowMs"));
      return c.json({ ...shown, accepting, retryAfterSeconds, partitions: config.ENGINE_PARTITIONS }, 200, NO_STORE);
    },
  );
}

const BUSY: Problem = {
  code: "unavailable",
  detail: "The engine's state is being read for others.",
  retryAfterSeconds: 1,
};

type QueueOverview = Awaited<ReturnType<typeof engineStatus>>;

// Module scope: plain data, shared by the requests of an isolate.
const shared = new SharedAnswer<QueueOverview>();

/** How the engine stands; it hears what this isolate did without asking. */
async function askEngine(env: Env, config: Config, nowMs: number): Promise<QueueOverview> {
  const told = takeTold();
  try {
    const overview = await engineStatus(env, config, told);
    shared.keep(overview, nowMs);
    return overview;
  } catch (error) {
    giveBackTold(told);
    throw error;
  }
}
