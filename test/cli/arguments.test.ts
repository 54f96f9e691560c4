import { describe, expect, test } from "vitest";
import { readArguments } from "../../src/cli/arguments.ts";

describe("npm start", () => {
  test("needs no arguments", () => {
    expect(readArguments([])).toEqual({ port: 8787, persistTo: ".wrangler/state", vars: {} });
  });

  test("takes a port, a folder and variables, whose values may hold colons", () => {
    const argv = [
      "--port",
      "0",
      "--persist-to",
      "/x",
      "--var",
      "QUEUE_MAX:100",
      "--var",
      "JWT_ISSUER:https://id.example",
    ];
    expect(readArguments(argv)).toEqual({
      port: 0,
      persistTo: "/x",
      vars: { QUEUE_MAX: "100", JWT_ISSUER: "https://id.example" },
    });
  });

  test.each([
    ["a port that is none", ["--port", "web"], "--port takes 0 to 65535, not web"],
    ["a port out of range", ["--port", "65536"], "--port takes 0 to 65535"],
    ["a variable without a value", ["--var", "QUEUE_MAX"], "--var takes NAME:VALUE, not QUEUE_MAX"],
    ["a variable that there is not", ["--var", "QUEUE_MAXI:5"], "--var knows no QUEUE_MAXI; known are QUEUE_MAX"],
    ["a value out of its range", ["--var", "QUEUE_MAX:0"], "QUEUE_MAX"],
    ["an option that there is not", ["--prot", "1"], "--prot"],
    ["a word too many", ["burst"], "burst"],
  ])("names %s", (_label, argv, message) => {
    expect(() => readArguments(argv)).toThrow(message);
  });
});
