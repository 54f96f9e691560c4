import { expect, test } from "vitest";
import { ADMIN, call, newTenant } from "../support/http.ts";
import { appOf } from "./admin-support.ts";

// A path that is there, asked with a method that is not.

test.for<[string, string, string]>([
  ["POST", "/healthz", "GET, HEAD, OPTIONS"],
  ["DELETE", "/openapi.json", "GET, HEAD, OPTIONS"],
  ["GET", "/v1/commands", "POST, OPTIONS"],
  ["PUT", "/v1/commands/1", "GET, DELETE, HEAD, OPTIONS"],
  ["PATCH", "/admin/tiers/free", "GET, PUT, DELETE, HEAD, OPTIONS"],
  ["GET", "/v2/deployments", "POST, OPTIONS"],
])("%s %s is 405, and says which methods there are", async ([method, path, allow]) => {
  const credential = path.startsWith("/admin") ? ADMIN : await newTenant("acme");
  const { status, headers, body } = await call(method, path, credential);
  expect([status, headers.get("Allow"), body.code]).toEqual([405, allow, "method_not_allowed"]);
  expect(headers.get("Content-Type")).toBe("application/problem+json");
});

test("a path that is nowhere is 404 with any method, and so is a thing that is not there", async () => {
  for (const method of ["GET", "POST", "DELETE"]) {
    const { status, headers } = await call(method, "/nowhere");
    expect([status, headers.get("Allow")]).toEqual([404, null]);
  }
  expect((await call("GET", "/admin/tiers/nobody", ADMIN)).status).toBe(404);
  expect((await call("GET", "/assets/no-such-file.js")).status).toBe(404);
});

test("who is asking comes first, and what is off is not there with any method", async () => {
  expect((await call("PUT", "/v1/queue")).status).toBe(401);
  const off = appOf({ ADMIN_TOKEN: "", VIEWER_TOKEN: "" });
  for (const method of ["GET", "POST"]) expect((await off(method, "/admin/tiers")).status).toBe(404);
});
