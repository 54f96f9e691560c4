import type { Docs } from "../document/docs.ts";

/** `/v1/check`, `/v1/limits` and `/oauth/token` in the API document. */

const report = {
  name: "requests",
  type: "token-bucket",
  limit: 200,
  windowSeconds: 2,
  remaining: 195,
  resetSeconds: 1,
};

export const CALLERS = {
  check: {
    operationId: "check",
    description:
      "For a Worker or service that does its own work. A no is a `200` too: `allowed` is false, `code` says why, and nothing is charged.",
    limits: "told",
    headers: { 200: ["Cache-Control"] },
    examples: {
      one: {
        summary: "One token, which is what an empty body asks for",
        body: {},
        status: 200,
        answer: {
          allowed: true,
          remaining: 199,
          resetSeconds: 1,
          policies: [{ ...report, remaining: 199 }],
        },
      },
      many: {
        summary: "Five tokens, for a user of one's own",
        body: { cost: 5, key: "user-17" },
        status: 200,
        answer: { allowed: true, remaining: 195, resetSeconds: 1, policies: [report] },
      },
      tooMany: {
        summary: "More than there ever is",
        body: { cost: 1_000_000 },
        status: 200,
        answer: {
          allowed: false,
          remaining: 195,
          resetSeconds: 1,
          code: "cost_exceeds_capacity",
          violated: ["requests"],
          policies: [report],
        },
      },
    },
  },
  limits: {
    operationId: "getLimits",
    limits: "told",
    headers: { 200: ["Cache-Control"] },
    examples: {
      own: {
        summary: "A tenant of the standard tier",
        status: 200,
        answer: { tenant: "acme", tier: "standard", policies: [report] },
      },
    },
  },
  token: {
    operationId: "createToken",
    access: "client",
    description: "OAuth 2.0 client credentials (RFC 6749, 4.4), in the form or as HTTP Basic.",
    limits: "told",
    headers: { 200: ["Cache-Control"] },
    examples: {
      form: {
        summary: "In the form",
        body: { grant_type: "client_credentials", client_id: "demo-standard", client_secret: "hg_dev_standard" },
        status: 200,
        answer: {
          access_token: "hgt_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhY21lIn0.c2ln",
          token_type: "Bearer",
          expires_in: 300,
        },
      },
    },
  },
} satisfies Record<string, Docs>;
