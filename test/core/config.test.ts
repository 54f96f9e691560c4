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

  test("is frozen", () => {
    expect(Object.isFrozen(parseConfig({}))).toBe(true);
  });
});
