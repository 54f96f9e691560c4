import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { ensurePages } from "./src/cli/pages.ts";

// Five rooms: `core` is pure and runs in Node, `worker` and `upstream` run inside workerd with objects and D1 and differ
// in what stands behind the queue, `e2e` starts real processes, `browser` opens its pages in Chromium. Time is virtual
// in all but the last two; nothing is ever tried twice.
await ensurePages();
// A time-out ends a test that hangs. The longest takes 13 s alone, and more on cores that other work shares.
const shared = { retry: 0, testTimeout: 60_000 };

/** A room inside workerd, over the deployment of wrangler.toml with some variables changed. */
function inWorkerd(name: string, include: string, vars: Record<string, string>): TestProjectConfiguration {
  return {
    plugins: [
      cloudflareTest(async () => ({
        wrangler: { configPath: "./wrangler.toml" },
        miniflare: {
          bindings: {
            ADMIN_TOKEN: "test-admin",
            VIEWER_TOKEN: "test-viewer",
            TEST_MIGRATIONS: await readD1Migrations("./migrations"),
            ...vars,
          },
        },
      })),
    ],
    test: {
      ...shared,
      name,
      include: [include],
      setupFiles: ["./test/support/migrate.ts"],
      // Each file loads everything anew; packages of hundreds of modules are bundled once instead.
      deps: {
        optimizer: {
          ssr: {
            enabled: true,
            include: [
              ...["hono", "hono/accepts", "hono/route", "@hono/zod-openapi", "zod"],
              ...["jose", "fast-check", "decimal.js", "feelin", "bpmn-moddle", "parse-prometheus-text-format"],
            ],
          },
        },
      },
    },
  };
}

export default defineConfig({
  test: {
    // Vitest leaves one core free, which on two cores is half of them.
    maxWorkers: 2,
    // What the product says of a backend that tests make fail, and of requests that they have refused.
    onConsoleLog: (log) => !/^\{"event":"(upstream_waits|upstream_back|command_dead|request)"/.test(log),
    reporters: ["default", "./test/support/node/closing-line.ts"],
    projects: [
      {
        test: {
          ...shared,
          name: "core",
          include: ["test/{core,cli,client,sim,telemetry,ops,web}/**/*.test.ts", "test/tidy.test.ts"],
          // Pure code keeps nothing between files: they share a worker each instead of starting one.
          isolate: false,
        },
      },
      inWorkerd("worker", "test/{durable,http,executor,identity,store}/**/*.test.ts", {
        // Off by default; on, it changes nothing for commands that are neither slow nor many.
        ADAPTIVE_TENANT_RATE: "on",
      }),
      inWorkerd("upstream", "test/upstream/**/*.test.ts", {
        UPSTREAM_URL: "http://upstream.test/api",
        // Its tests move timers by hand from inside an object: those of a lease would go off there, too.
        LIMITER_MODE: "exact",
        UPSTREAM_CONCURRENCY: "2",
        OVERFLOW: "defer",
        UPSTREAM_TIMEOUT_MS: "10000",
        UPSTREAM_AUTHORIZATION: "Bearer of-the-backend",
        UPSTREAM_FORWARD_HEADERS: "traceparent",
        V2_ROUTES: JSON.stringify([{ method: "POST", path: "/v2/signals/broadcast", intent: "SIGNAL:BROADCAST" }]),
        UPSTREAM_ROUTES: JSON.stringify({
          "ORDER:PLACE": { path: "/orders" },
          "ORDER:CANCEL": { method: "DELETE", path: "/orders/{orderId}", critical: true },
          "ORDER:FIND": { method: "GET", path: "/orders", statuses: { 404: "not-now", 409: "retry", 500: "final" } },
        }),
      }),
      {
        test: {
          ...shared,
          name: "e2e",
          include: ["test/{e2e,conformance}/**/*.test.ts"],
          // A gateway is bundled before it starts, on a machine that other tests share.
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...shared,
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          hookTimeout: 120_000,
          // Pages show what happened a moment later, on a machine that other tests share.
          expect: { poll: { timeout: 15_000 } },
        },
      },
    ],
  },
});
