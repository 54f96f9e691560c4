import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { writeEveryEngine } from "../engine-write.ts";
import { OPERATION } from "../examples/operation.ts";

/** `/admin/engine`: pause and resume, in every partition. */

const pauseBody = z.strictObject({ accept: z.boolean().default(true) }).default({ accept: true });
const paused = z.object({ paused: z.boolean(), accepting: z.boolean() });

export function registerEngine(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "post",
      path: "/admin/engine/pause",
      summary: "Stop processing; `{accept:false}` refuses new commands too",
      tags: ["operation"],
      docs: OPERATION.pause,
      body: pauseBody,
      responses: { 200: { description: "Paused", schema: paused } },
    },
    async (c, { body }) => {
      const made = await writeEveryEngine(c, config, "engine.pause", body, (engine) => engine.pause(body.accept));
      return made instanceof Response ? made : c.json({ paused: true, accepting: body.accept });
    },
  );
  endpoint(
    api,
    {
      method: "post",
      path: "/admin/engine/resume",
      summary: "Go on processing",
      tags: ["operation"],
      docs: OPERATION.resume,
      responses: { 200: { description: "Resumed", schema: paused } },
    },
    async (c) => {
      const made = await writeEveryEngine(c, config, "engine.resume", {}, (engine) => engine.resume());
      return made instanceof Response ? made : c.json({ paused: false, accepting: true });
    },
  );
}
