import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";

// Each test file has its own database; the schema comes from the same files that are deployed.
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
