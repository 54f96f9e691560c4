import type { Docs } from "../document/docs.ts";

/** `/admin/tiers` in the API document. */

const path = { name: "gold" };
const gold = {
  name: "gold",
  policies: [
    { name: "requests", type: "token-bucket", scope: "tenant", rate: { tokens: 500, perSeconds: 1 }, burst: 1000 },
  ],
  requestsPerSecond: 500,
  burstSize: 1000,
  weight: 2,
  limiterMode: "leased",
  version: 2,
  updatedAt: "2026-11-30T11:13:57.365Z",
};
const daily = {
  policies: [
    { name: "burst", type: "token-bucket", rate: { tokens: 1, perSeconds: 2 }, burst: 10 },
    { name: "daily", type: "sliding-window", limit: 10_000, windowSeconds: 86_400 },
    { name: "each-user", type: "fixed-window", scope: "key", limit: 100, windowSeconds: 60 },
  ],
};

export const TIERS = {
  list: {
    operationId: "listTiers",
    examples: { all: { summary: "All of them", status: 200, answer: { tiers: [gold] } } },
  },
  read: {
    operationId: "getTier",
    problems: ["not_found"],
    examples: { gold: { summary: "One of one bucket", path, status: 200, answer: gold } },
  },
  put: {
    operationId: "putTier",
    description:
      "Two numbers, or a list of up to 16 policies, which are charged together or not at all. A change holds for the tenants of the tier when it is answered; `tenantsPending` follow with their next requests. What was used is carried over by a policy's name, unless its type changes: then it starts anew, and `restarted` names it.",
    examples: {
      made: {
        summary: "Make a tier of one bucket",
        path,
        body: { requestsPerSecond: 500, burstSize: 1000, weight: 2 },
        status: 201,
        answer: { ...gold, tenantsUpdated: 0, tenantsPending: 0 },
      },
      policies: {
        summary: "Replace its limits by three that hold together",
        path: { name: "free" },
        body: daily,
        status: 200,
        answer: {
          name: "free",
          policies: [
            { name: "burst", type: "token-bucket", scope: "tenant", rate: { tokens: 1, perSeconds: 2 }, burst: 10 },
            { name: "daily", type: "sliding-window", scope: "tenant", limit: 10_000, windowSeconds: 86_400 },
            { name: "each-user", type: "fixed-window", scope: "key", limit: 100, windowSeconds: 60 },
          ],
          weight: 1,
          limiterMode: "leased",
          version: 3,
          updatedAt: "2026-11-30T11:14:02.117Z",
          tenantsUpdated: 1,
          tenantsPending: 0,
        },
      },
    },
  },
  remove: {
    operationId: "deleteTier",
    problems: ["not_found", "conflict"],
    examples: { gold: { summary: "One without tenants", path, status: 204 } },
  },
} satisfies Record<string, Docs>;
