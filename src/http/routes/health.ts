import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import type { Problem } from "../../core/problem.ts";
import { SharedAnswer } from "../../core/shared-answer.ts";
import { type EngineReadiness, engineReadiness } from "../../durable/engine-upkeep.ts";
import { databaseReady } from "../../store/health.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { OBSERVATION } from "../examples/observation.ts";
import { refuseRead } from "../middleware/limit-caller.ts";
import { problem } from "../problem.ts";

/** `/healthz`: this Worker runs. `/readyz`: its database and its engine answer too. Neither needs a credential. */

const part = z.enum(["ok", "unavailable"]);
const enginePart = z.enum(["ok", "unavailable", "storage_full"]);
const readiness = z.object({ ready: z.boolean(), database: part, engine: enginePart }).openapi("Readiness");

export function registerHealth(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/healthz",
      summary: "The Worker runs",
      tags: ["observation"],
      docs: OBSERVATION.health,
      responses: { 200: { description: "It does", schema: z.object({ status: z.literal("ok") }) } },
    },
    (c) => c.json({ status: "ok" }),
  );
  endpoint(
    api,
    {
      method: "get",
      path: "/readyz",
      summary: "The parts behind the Worker answer",
      tags: ["observation"],
      docs: OBSERVATION.ready,
      responses: {
        200: { description: "They do", schema: readiness },
        503: { description: "At least one does not", schema: readiness },
      },
    },
    async (c) => {
      const refused = refuseRead(c);
      if (refused !== null) return refused;
      const nowMs = c.get("nowMs");
      const next = shared.next(nowMs);
      if (next.kind === "busy") return problem(c, BUSY);
      const { database, engine } = next.kind === "kept" ? next.value : await askParts(c.env, config, nowMs);
      const ready = database && engine === "ok";
      const say = (ok: boolean) => (ok ? "ok" : "unavailable");
      return c.json({ ready, database: say(database), engine }, ready ? 200 : 503, {
        "Cache-Control": "no-store",
      });
    },
  );
}

const BUSY: Problem = {
  code: "unavailable",
  detail: "The parts behind the Worker are being asked for others.",
  retryAfterSeconds: 1,
};

interface Parts {
  readonly database: boolean;
  readonly engine: EngineReadiness;
}

// Module scope: plain data, shared by the requests of an isolate.
const shared = new SharedAnswer<Parts>();

async function askParts(env: Env, config: Config, nowMs: number): Promise<Parts> {
  const [database, engine] = await Promise.all([databaseReady(env.DB), engineReadiness(env, config)]);
  shared.keep({ database, engine }, nowMs);
  return { database, engine };
}
