import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

// Three rooms: `core` is pure and runs in Node, `worker` runs inside workerd with objects and D1,
// `e2e` starts real processes. Time is virtual in the first two; nothing is ever tried twice.
const shared = { retry: 0, testTimeout: 20_000 };

export default defineConfig({
  test: {
    // Vitest leaves one core free, which on two cores is half of them.
    maxWorkers: 2,
    reporters: ["default", "./test/support/node/closing-line.ts"],
    projects: [
      {
        test: {
          ...shared,
          name: "core",
          include: ["test/{core,cli}/**/*.test.ts", "test/tidy.test.ts"],
          // Pure code keeps nothing between files: they share a worker each instead of starting one.
          isolate: false,
        },
      },
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                ADMIN_TOKEN: "test-admin",
                VIEWER_TOKEN: "test-viewer",
                // Off by default; on, it changes nothing for commands that are neither slow nor many.
                ADAPTIVE_TENANT_RATE: "on",
                TEST_MIGRATIONS: await readD1Migrations("./migrations"),
              },
            },
          })),
        ],
        test: {
          ...shared,
          name: "worker",
          include: ["test/{durable,http,executor,identity,store,conformance}/**/*.test.ts"],
          setupFiles: ["./test/support/migrate.ts"],
          // Each file loads everything anew; packages of hundreds of modules are bundled once instead.
          deps: {
            optimizer: { ssr: { enabled: true, include: ["zod", "@hono/zod-openapi", "hono", "jose", "fast-check"] } },
          },
        },
      },
      {
        test: {
          ...shared,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
