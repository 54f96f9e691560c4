import { describe, expect, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { SurfaceRouter } from "../../src/http/surface-router.ts";

describe("the router", () => {
  test("finds our own routes the fast way, whatever the engine's routes are like", async () => {
    const app = createApp(parseConfig({}));
    expect(app.router).toBeInstanceOf(SurfaceRouter);
    app.router.match("POST", "/v1/check");
    expect((app.router as SurfaceRouter<unknown>).ownKind).toBe("SmartRouter + RegExpRouter");
  });

  test("takes what is for all to both, and each path to one", () => {
    const router = new SurfaceRouter<string>();
    router.add("ALL", "*", "all");
    router.add("GET", "/v1/things/:id", "ours");
    router.add("GET", "/v2/things/search", "theirs");
    router.add("GET", "/v2/things/:key", "one of theirs");
    router.add("GET", "/t/:tenant/v2/things/:key", "in a tenant's path");
    const found = (path: string) => router.match("GET", path)[0].map(([handler]) => handler);
    expect(found("/v1/things/7")).toEqual(["all", "ours"]);
    expect(found("/v2/things/search")).toEqual(["all", "theirs", "one of theirs"]);
    expect(found("/t/acme/v2/things/7")).toEqual(["all", "in a tenant's path"]);
    expect(found("/v2")).toEqual(["all"]);
    expect(found("/v20/things/7")).toEqual(["all"]);
  });
});
