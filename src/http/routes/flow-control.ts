import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { ALGORITHMS, changeFlow, type FlowChange } from "../../core/flow-control/settings.ts";
import { addFlowReports, flowReport } from "../../durable/engines.ts";
import { invalidFields } from "../body.ts";
import { type Api, calculatedObject, endpoint } from "../endpoint.ts";
import { askEveryEngine, writeEveryEngine } from "../engine-write.ts";
import { OPERATION } from "../examples/operation.ts";
import { problem } from "../problem.ts";

/**
 * `/admin/flow-control`: the engine's limits, read and changed while it runs. What a parameter may be is core's to say;
 * a change is checked whole before any of it is made or audited.
 */

const writeRate = z.strictObject({
  perSecond: z.int().min(1).max(1_000_000),
  burst: z.int().min(1).max(1_000_000),
  warmUpSeconds: z.int().min(0).max(86_400).default(0),
});

const limits = {
  bound: z
    .int()
    .min(1)
    .max(1_000_000)
    .describe("The most commands that may be queued: what `QUEUE_MAX` sets at the start."),
  boundBytes: z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024),
  enqueueWaitMs: z.int().min(0).max(60_000).describe("How long a caller may wait for room in a full queue."),
  algorithm: z.enum(ALGORITHMS),
  windowed: z.boolean().describe("The limit moves once a second instead of with each command."),
  parameters: calculatedObject.openapi({ description: "Of the algorithm." }),
  writeRate: writeRate.nullable().describe("Of all tenants together; null: no limit."),
};
const settings = z.strictObject(limits);
const report = z
  .object({
    ...limits,
    limit: z.number().nullable().describe("How many may be in flight now; null: without end."),
    inFlight: z.int(),
  })
  .openapi("FlowControl");

export function registerFlowControl(api: Api, config: Config): void {
  const responses = { 200: { description: "The limits in force, and what they come to now", schema: report } };
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/flow-control",
      summary: "The engine's limits",
      tags: ["operation"],
      docs: OPERATION.flow,
      responses,
    },
    async (c) => c.json(await flowReport(c.env, config)),
  );
  endpoint(
    api,
    {
      method: "patch",
      path: "/admin/flow-control",
      summary: "Change the engine's limits while it runs; a bad change is refused whole",
      tags: ["operation"],
      docs: OPERATION.changeFlow,
      body: settings
        .partial()
        .refine((change) => (change.boundBytes ?? config.BODY_BYTES_MAX) >= config.BODY_BYTES_MAX, {
          path: ["boundBytes"],
          message: `must hold at least one body of ${config.BODY_BYTES_MAX} bytes`,
        }),
      responses,
    },
    async (c, { body }) => {
      const change = given(body);
      const before = await askEveryEngine(c, config, (engine) => engine.flowSettings());
      if (before instanceof Response) return before;
      for (const settings of before) {
        const checked = changeFlow(settings, change);
        if (!checked.ok) return problem(c, invalidFields(checked.faults, "body"));
      }
      const detail = JSON.parse(JSON.stringify(change));
      const made = await writeEveryEngine(c, config, "flow-control.change", detail, async (engine) => {
        const changed = await engine.changeFlow(change);
        // Another change came in between, and the two do not go together.
        if (!changed.ok) throw new Error(JSON.stringify(changed.faults));
        return await engine.flowSettings();
      });
      return made instanceof Response ? made : c.json(addFlowReports(made));
    },
  );
}

/** The members that were given: an absent one stays as it is. */
function given(change: { [K in keyof FlowChange]?: FlowChange[K] | undefined }): FlowChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}
