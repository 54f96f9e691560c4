import { describe, expect, test } from "vitest";
import { type Fault, inWords } from "../../src/web/dashboard/admin.ts";
import { whyNot } from "../../src/web/dashboard/session.ts";

function fault(status: number, retryAfterSeconds: number | null = null): Fault {
  return { kind: "problem", status, code: "x", detail: "Something is wrong.", errors: [], retryAfterSeconds };
}

describe("why nobody is signed in, and what to do", () => {
  test.each<[string, Fault, RegExp]>([
    ["a wrong token", fault(401), /not a token of this deployment.*`wrangler secret put ADMIN_TOKEN`/],
    ["no token configured", fault(404), /no admin token.*`wrangler secret put ADMIN_TOKEN`/],
    ["too many guesses", fault(429, 17), /Too many wrong tokens.*in 17 s/],
    ["a missing part", fault(503, 5), /Something is wrong\. Try again in 5 s\./],
    ["a bug", fault(500), /Something is wrong\. Try again\./],
    ["no connection", { kind: "unreachable" }, /Check your connection/],
  ])("%s", (_label, met, says) => expect(whyNot(met)).toMatch(says));
});

describe("what a change met", () => {
  test.each<[string, Fault, RegExp]>([
    ["a viewer's token", fault(403), /may only look.*admin token/],
    ["a conflict", fault(409), /^Something is wrong\.$/],
    ["a missing part", fault(503, 2), /^Something is wrong\. Try again in 2 s\.$/],
    ["no connection", { kind: "unreachable" }, /\/healthz/],
  ])("%s", (_label, met, says) => expect(inWords(met)).toMatch(says));
});
