import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isOfThisMachine } from "../../src/identity/local.ts";

const isLocal = (headers: Record<string, string>) =>
  isOfThisMachine(new Request("http://localhost:8787/v2/topology", { headers }));

/** What proxies, load balancers, tunnels and clouds add. */
const FORWARDING = [
  ...["Forwarded", "Forwarded-For", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded"],
  ...["X-Original-Forwarded-For", "X-Original-Host", "X-Real-IP", "X-Client-IP", "X-Cluster-Client-IP", "Client-IP"],
  ...["X-Envoy-External-Address", "X-Amzn-Trace-Id", "X-Azure-ClientIP", "Fly-Client-IP", "Fastly-Client-IP"],
  ...["True-Client-IP", "CDN-Loop", "CF-Ray", "CF-Visitor", "CF-IPCountry", "CF-Connecting-IPv6", "Proxy-Connection"],
];
/** What programs on this machine send. */
const PLAIN = {
  "User-Agent": "curl/8",
  Accept: "*/*",
  traceparent: "00-1-2-03",
  "X-Request-Id": "a",
  Connection: "close",
  "CF-Connecting-IP": "127.0.0.1",
  "Content-Type": "application/json",
};

describe("a request of this machine", () => {
  test("carries what clients send", () => {
    expect(isLocal({})).toBe(true);
    expect(isLocal(PLAIN)).toBe(true);
  });

  test.each(FORWARDING)("carries no %s", (name) => {
    expect(isLocal({ [name]: "127.0.0.1" })).toBe(false);
    expect(isLocal({ [name]: "" })).toBe(false);
  });

  test("carries no such field in any spelling, with any value, among any others", () => {
    const field = fc.constantFrom(...FORWARDING).chain((name) => fc.mixedCase(fc.constant(name)));
    fc.assert(
      fc.property(field, fc.stringMatching(/^[\x21-\x7e]{0,20}$/), (name, value) => {
        expect(isLocal({ ...PLAIN, [name]: value })).toBe(false);
      }),
    );
  });
});
