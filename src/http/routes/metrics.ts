import { z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { accepts } from "hono/accepts";
import type { Config } from "../../config.ts";
import { engineReports } from "../../durable/engines.ts";
import { readTotals } from "../../store/usage.ts";
import { CONTENT_TYPES, type Format, writeMetrics } from "../../telemetry/exposition.ts";
import { allFamilies, type Gathered } from "../../telemetry/families.ts";
import { answer, noteVary } from "../answer.ts";
import type { AppEnv } from "../app-env.ts";
import { giveBackTold, takeTold } from "../edge-counts.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { OBSERVATION } from "../examples/observation.ts";
import { adminAuth } from "../middleware/admin-auth.ts";
import { problem } from "../problem.ts";

/**
 * `/metrics`, for anybody but what names tenants. It costs a call per partition and as many rows as there are tiers and
 * tenants shown, at most once a second in an isolate, however often it is asked for.
 */

/** Series per tenant are for so many, and one for all the others. */
const TENANTS_SHOWN = 20;
/** How old an answer may be, in milliseconds. */
const KEEP_MS = 1_000;
/** A part that takes longer is left out, in milliseconds: scrapers wait ten seconds. */
const PART_TIMEOUT_MS = 3_000;
/** An isolate that has nothing to show yet asks for so many scrapes at a time, and no more. */
const GATHERING_MAX = 4;

const OPENMETRICS = "application/openmetrics-text";

// Module scope: plain data, shared by the requests of an isolate.
let gathered: (Gathered & { readonly atMs: number }) | null = null;
/** When each gathering began that is under way, Unix milliseconds. */
let gathering: readonly number[] = [];

export function registerMetrics(api: Api, config: Config): void {
  api.app.use("/metrics", adminWhereShown(config));
  endpoint(
    api,
    {
      method: "get",
      path: "/metrics",
      summary:
        "Metrics as Prometheus text or OpenMetrics, by `Accept`; with an admin or viewer token those of tenants too",
      tags: ["observation"],
      docs: OBSERVATION.metrics,
      responses: {
        200: {
          description: "Prometheus text 0.0.4, or OpenMetrics 1.0",
          schema: z.string(),
          types: ["text/plain", OPENMETRICS],
        },
      },
    },
    async (c) => {
      const now = await gather(c.env, config, c.get("nowMs"));
      if (now === null) return problem(c, BUSY);
      const wanted = accepts(c, { header: "Accept", supports: ["text/plain", OPENMETRICS], default: "text/plain" });
      const format: Format = wanted === OPENMETRICS ? "openmetrics" : "prometheus";
      const text = writeMetrics(allFamilies(now, c.get("actor") !== undefined), format);
      noteVary(c, "Accept, Authorization");
      const headings = { "Cache-Control": "no-store" };
      return answer(c, 200, CONTENT_TYPES[format], text, headings);
    },
  );
}

const BUSY = {
  code: "unavailable",
  detail: "The metrics are being gathered for others.",
  retryAfterSeconds: 1,
} as const;

/** Whoever shows a token must show a right one. */
function adminWhereShown(config: Config): MiddlewareHandler<AppEnv> {
  const auth = adminAuth(config);
  return async function adminWhereShown(c, next) {
    return c.req.header("Authorization") === undefined ? next() : auth(c, next);
  };
}

/** What the parts tell now, or told less than a second ago, or, while somebody else asks them, before. */
async function gather(env: Env, config: Config, nowMs: number): Promise<Gathered | null> {
  // One whose scraper hung up may never end here, so each is believed for its time only.
  gathering = gathering.filter((begunMs) => Math.abs(nowMs - begunMs) < 2 * PART_TIMEOUT_MS);
  if (gathered !== null && (gathering.length > 0 || Math.abs(nowMs - gathered.atMs) < KEEP_MS)) return gathered;
  if (gathering.length >= GATHERING_MAX) return null;
  gathering = [...gathering, nowMs];
  try {
    gathered = { ...(await askParts(env, config)), atMs: nowMs };
    return gathered;
  } finally {
    const own = gathering.indexOf(nowMs);
    gathering = gathering.filter((_, at) => at !== own);
  }
}

/** Asks all parts at once. One that fails, or takes too long, is null. */
async function askParts(env: Env, config: Config): Promise<Gathered> {
  const told = takeTold();
  const reports = engineReports(env, config, told);
  // What it was told is not lost while it restarts. One that is merely slow has heard it.
  reports[0]?.catch(() => giveBackTold(told));
  const [usage, ...engines] = await Promise.all([
    inTime(readTotals(env.DB, TENANTS_SHOWN)),
    ...reports.map((report) => inTime(report)),
  ]);
  return { engines, usage };
}

async function inTime<T>(part: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PART_TIMEOUT_MS);
  });
  try {
    return await Promise.race([part, timeout]);
  } catch (error) {
    console.warn(JSON.stringify({ event: "metrics_part_missing", error: String(error) }));
    return null;
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}
