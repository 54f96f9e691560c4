import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import type { JsonObject } from "../../core/json.ts";
import type { FlowSettings } from "../../durable/command-engine.ts";
import { theEngine } from "../../durable/stubs.ts";
import { recordAudit } from "../../store/audit.ts";
import type { AppEnv } from "../app-env.ts";
import { forgetEngine } from "../edge.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { problem } from "../problem.ts";

/** Admin routes of the engine: pause and resume, its settings, dead letters. Each change is in the audit. */

const flowSettings = z
  .strictObject({
    bound: z.int().min(1).max(1_000_000),
    boundBytes: z
      .int()
      .min(1024)
      .max(64 * 1024 * 1024),
    enqueueWaitMs: z.int().min(0).max(60_000),
  })
  .openapi("FlowControl");
const pauseBody = z.strictObject({ accept: z.boolean().default(true) }).default({ accept: true });
const paused = z.object({ paused: z.boolean(), accepting: z.boolean() });
const deadPath = z.object({ id: z.string().max(64) });
const deadQuery = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  after: z.string().max(64).optional(),
});

export function registerEngine(api: Api, config: Config): void {
  registerPause(api);
  registerFlowControl(api, config);
  registerDeadLetters(api);
}

function registerPause(api: Api): void {
  endpoint(
    api,
    {
      method: "post",
      path: "/admin/engine/pause",
      summary: "Stop processing; `{accept:false}` refuses new commands too",
      tags: ["admin"],
      body: pauseBody,
      responses: { 200: { description: "Paused", schema: paused } },
    },
    async (c, { body }) => {
      await audit(c, "engine.pause", body);
      await theEngine(c.env).pause(body.accept);
      forgetEngine();
      return c.json({ paused: true, accepting: body.accept });
    },
  );
  endpoint(
    api,
    {
      method: "post",
      path: "/admin/engine/resume",
      summary: "Go on processing",
      tags: ["admin"],
      responses: { 200: { description: "Resumed", schema: paused } },
    },
    async (c) => {
      await audit(c, "engine.resume", {});
      await theEngine(c.env).resume();
      forgetEngine();
      return c.json({ paused: false, accepting: true });
    },
  );
}

function registerFlowControl(api: Api, config: Config): void {
  const responses = { 200: { description: "The settings in force", schema: flowSettings } };
  endpoint(
    api,
    { method: "get", path: "/admin/flow-control", summary: "The engine's limits", tags: ["admin"], responses },
    async (c) => c.json(await theEngine(c.env).flowSettings()),
  );
  endpoint(
    api,
    {
      method: "patch",
      path: "/admin/flow-control",
      summary: "Change the engine's limits while it runs; a bad change is refused whole",
      tags: ["admin"],
      body: flowSettings
        .partial()
        .transform(given)
        .refine((change) => (change.boundBytes ?? config.BODY_BYTES_MAX) >= config.BODY_BYTES_MAX, {
          path: ["boundBytes"],
          message: `must hold at least one body of ${config.BODY_BYTES_MAX} bytes`,
        }),
      responses,
    },
    async (c, { body }) => {
      await audit(c, "flow-control.change", { ...body });
      const settings = await theEngine(c.env).changeFlowSettings(body);
      forgetEngine();
      return c.json(settings);
    },
  );
}

function registerDeadLetters(api: Api): void {
  const command = z.object({ commandId: z.string() }).loose().openapi("DeadLetter");
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/dead-letters",
      summary: "Commands that could not be run, oldest first",
      tags: ["admin"],
      query: deadQuery,
      responses: { 200: { description: "Dead letters", schema: z.object({ deadLetters: z.array(command) }) } },
    },
    async (c, { query }) => {
      const deadLetters = await theEngine(c.env).deadLetters(query.limit, query.after ?? null);
      const last = deadLetters.length === query.limit ? deadLetters.at(-1)?.commandId : undefined;
      return c.json({ deadLetters, ...(last === undefined ? {} : { next: last }) });
    },
  );
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/dead-letters/{id}",
      summary: "One dead letter",
      tags: ["admin"],
      params: deadPath,
      responses: { 200: { description: "It", schema: command } },
    },
    async (c, { params }) => {
      const letter = await theEngine(c.env).deadLetter(params.id);
      return letter === null ? problem(c, unknownLetter(params.id)) : c.json(letter);
    },
  );
  endpoint(
    api,
    {
      method: "delete",
      path: "/admin/dead-letters/{id}",
      summary: "Take it off the list; its command stays dead",
      tags: ["admin"],
      params: deadPath,
      responses: { 204: { description: "Gone" } },
    },
    async (c, { params }) => {
      await audit(c, "dead-letter.delete", { id: params.id });
      const dropped = await theEngine(c.env).dropDeadLetter(params.id);
      return dropped ? c.body(null, 204) : problem(c, unknownLetter(params.id));
    },
  );
  endpoint(
    api,
    {
      method: "post",
      path: "/admin/dead-letters/{id}/redrive",
      summary: "Send it again, under the same id",
      tags: ["admin"],
      params: deadPath,
      responses: { 202: { description: "Queued again", schema: command } },
    },
    async (c, { params }) => {
      await audit(c, "dead-letter.redrive", { id: params.id });
      const command = await theEngine(c.env).redrive(params.id);
      return command === null ? problem(c, unknownLetter(params.id)) : c.json(command, 202);
    },
  );
}

/** The members that were given: an absent one stays as it is. */
function given(change: { [K in keyof FlowSettings]?: FlowSettings[K] | undefined }): Partial<FlowSettings> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

/** Before the change, so that no change is without its entry; D1 away means nothing was done. */
async function audit(c: Context<AppEnv>, action: string, detail: JsonObject): Promise<void> {
  await recordAudit(c.env.DB, { actor: c.var.actor, nowMs: c.var.nowMs }, { action, target: "engine", detail });
}

function unknownLetter(id: string) {
  return { code: "not_found", detail: `There is no dead letter ${JSON.stringify(id)}.` } as const;
}
