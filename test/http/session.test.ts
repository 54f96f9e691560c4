import { describe, expect, test } from "vitest";
import { appOf } from "./admin-support.ts";

// Whose token it is, for a page that must know what it may offer.

describe("/admin/session", () => {
  const ask = appOf();

  test.each([
    ["admin", "test-admin"],
    ["viewer", "test-viewer"],
  ])("says that a token is the %s's, and is not kept anywhere", async (actor, token) => {
    const answer = await ask("GET", "/admin/session", { headers: { Authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ actor });
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
  });

  test("says nothing to anybody else", async () => {
    const headers = { Authorization: "Bearer guessed", "CF-Connecting-IP": "192.0.2.77" };
    const answer = await ask("GET", "/admin/session", { headers });
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ code: "unauthenticated" });
  });

  test("is not there without any token configured", async () => {
    const off = appOf({ ADMIN_TOKEN: "", VIEWER_TOKEN: "" });
    expect((await off("GET", "/admin/session")).status).toBe(404);
  });
});
