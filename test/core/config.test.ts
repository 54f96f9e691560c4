import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config.ts";

describe("configuration", () => {
  test("has a default for everything, and numbers come as text", () => {
    expect(parseConfig({})).toMatchObject({ QUEUE_MAX: 10_000, ENQUEUE_WAIT_MS: 5_000, LIMITER_FAILURE: "open" });
    expect(parseConfig({ QUEUE_MAX: "7" }).QUEUE_MAX).toBe(7);
  });

  test.each([
    ["not a number", { QUEUE_MAX: "many" }, "QUEUE_MAX"],
    ["below its range", { QUEUE_MAX: "0" }, "QUEUE_MAX"],
    ["a fraction", { ENQUEUE_WAIT_MS: "1.5" }, "ENQUEUE_WAIT_MS"],
    ["a word that is not offered", { LIMITER_FAILURE: "ajar" }, "LIMITER_FAILURE"],
    ["a body that never fits the queue", { BODY_BYTES_MAX: "4096", QUEUE_BYTES_MAX: "2048" }, "BODY_BYTES_MAX"],
    ["tokens of anybody's issuer", { JWT_JWKS_URL: "https://id.example/keys" }, "JWT_JWKS_URL"],
  ])("a variable that is %s is named", (_label, vars, name) => {
    expect(() => parseConfig(vars)).toThrow(name);
  });

  test.each([
    ["under 8 characters", { ADMIN_TOKEN: "seven-7" }, "ADMIN_TOKEN: must have at least 8 characters"],
    ["under 8 characters", { VIEWER_TOKEN: "v" }, "VIEWER_TOKEN: must have at least 8 characters"],
    ["blank", { ADMIN_TOKEN: " ".repeat(12) }, "ADMIN_TOKEN: must be printable ASCII without blanks"],
    ["with a line end", { ADMIN_TOKEN: "long-enough\n" }, "ADMIN_TOKEN: must be printable ASCII"],
    ["that no header carries", { VIEWER_TOKEN: "schlüssel-wort" }, "VIEWER_TOKEN: must be printable ASCII"],
    ["longer than headers", { ADMIN_TOKEN: "a".repeat(4097) }, "ADMIN_TOKEN: must have at most 4096 characters"],
    [
      "of both roles",
      { ADMIN_TOKEN: "same-token", VIEWER_TOKEN: "same-token" },
      "VIEWER_TOKEN: must not be the ADMIN_",
    ],
    ["under 32 characters", { OAUTH_SECRET: "short" }, "OAUTH_SECRET"],
  ])("a secret %s stops the start, is named and is not shown", (_label, vars, words) => {
    const start = () => parseConfig(vars);
    expect(start).toThrow(words);
    for (const secret of Object.values(vars)) expect(start).not.toThrow(`given: "${secret}`);
  });

  test("a token of 8 characters will do, and without any the routes are off", () => {
    expect(parseConfig({ ADMIN_TOKEN: "eight-8!", VIEWER_TOKEN: "" })).toMatchObject({ ADMIN_TOKEN: "eight-8!" });
    expect(parseConfig({})).toMatchObject({ ADMIN_TOKEN: "", VIEWER_TOKEN: "" });
  });

  test("is frozen", () => {
    expect(Object.isFrozen(parseConfig({}))).toBe(true);
  });
});
