import { env } from "cloudflare:workers";
import { createApp } from "./app.ts";
import { configOf } from "./config.ts";

/** The Worker's exports and nothing else. A bad variable stops the start here, by name. */
export { CommandEngine } from "./durable/command-engine.ts";
export { TenantLimiter } from "./durable/tenant-limiter.ts";
export default createApp(configOf(env));
