import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "./config.ts";
import { CallerGone } from "./durable/hang-up.ts";
import { silenceOf } from "./durable/silence.ts";
import { ObjectUnreachable } from "./durable/stubs.ts";
import { answerClosed } from "./http/answer.ts";
import type { AppEnv } from "./http/app-env.ts";
import { registerDocument } from "./http/document/document.ts";
import type { Api } from "./http/endpoint.ts";
import { adminAuth } from "./http/middleware/admin-auth.ts";
import { authenticate } from "./http/middleware/authenticate.ts";
import { entrance } from "./http/middleware/entrance.ts";
import { tenantInPath } from "./http/middleware/tenant-in-path.ts";
import { allowedAt, answerNowhere } from "./http/not-found.ts";
import { problem } from "./http/problem.ts";
import { registerAudit } from "./http/routes/audit.ts";
import { registerCheck } from "./http/routes/check.ts";
import { registerCommands } from "./http/routes/commands.ts";
import { registerDeadLetters } from "./http/routes/dead-letters.ts";
import { registerEngine } from "./http/routes/engine.ts";
import { registerFlowControl } from "./http/routes/flow-control.ts";
import { registerHealth } from "./http/routes/health.ts";
import { registerKeys } from "./http/routes/keys.ts";
import { registerLimits } from "./http/routes/limits.ts";
import { registerMetrics } from "./http/routes/metrics.ts";
import { registerOAuth } from "./http/routes/oauth.ts";
import { registerPages } from "./http/routes/pages.ts";
import { registerQueue } from "./http/routes/queue.ts";
import { registerSession } from "./http/routes/session.ts";
import { registerTenants } from "./http/routes/tenants.ts";
import { registerTiers } from "./http/routes/tiers.ts";
import { registerUsage } from "./http/routes/usage.ts";
import { SurfaceRouter } from "./http/surface-router.ts";
import { registerEngineSurface } from "./http/v2/engine-surface.ts";
import { STORE_RETRY_AFTER_SECONDS, StoreUnavailable } from "./store/database.ts";

/** Builds the app: middleware in the order of the flow, then the routes. The only `onError` and `notFound`. */
export function createApp(config: Config): OpenAPIHono<AppEnv> {
  const app = new OpenAPIHono<AppEnv>({ router: new SurfaceRouter() });
  app.onError((error, c) => answerError(error, c));
  app.notFound(answerNowhere(app, config));

  app.use(entrance(config, (path) => allowedAt(app, config, path)));
  app.use("/v1/*", authenticate(config, { local: false }));
  app.use("/v2/*", authenticate(config, { local: true }));
  app.use("/t/:tenant/v2/*", authenticate(config, { local: true }), tenantInPath());
  app.use("/admin/*", adminAuth(config));

  const api: Api = { app, shapes: [], bodyBytesMax: config.BODY_BYTES_MAX };
  registerHealth(api, config);
  registerCommands(api, config);
  registerQueue(api, config);
  registerCheck(api, config);
  registerLimits(api, config);
  registerOAuth(api, config);
  registerEngineSurface(api, config);
  registerTiers(api, config);
  registerTenants(api, config);
  registerKeys(api);
  registerEngine(api, config);
  registerFlowControl(api, config);
  registerDeadLetters(api, config);
  registerAudit(api);
  registerUsage(api);
  registerSession(api);
  registerMetrics(api, config);
  registerDocument(api, config);
  registerPages(api);
  return app;
}

/** What was thrown is a missing part, a caller that has gone, or a bug. A bug is logged whole and told to nobody. */
function answerError(error: Error, c: Context<AppEnv>): Response {
  const requestId = c.get("requestId");
  if (error instanceof CallerGone) return answerClosed(c);
  if (error instanceof StoreUnavailable) {
    console.warn(JSON.stringify({ event: "store_unavailable", requestId, error: error.message }));
    const detail = "The database does not answer. Nothing was changed.";
    return problem(c, { code: "unavailable", detail, retryAfterSeconds: STORE_RETRY_AFTER_SECONDS });
  }
  if (error instanceof ObjectUnreachable) {
    console.warn(JSON.stringify({ event: "object_unreachable", requestId, error: error.message }));
    return problem(c, silenceOf(error));
  }
  console.error(JSON.stringify({ event: "internal", requestId, error: String(error), stack: error.stack }));
  return problem(c, { code: "internal" });
}
