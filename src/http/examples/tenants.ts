import type { Docs } from "../document/docs.ts";
import { USAGE_NOTE } from "../tenant-shape.ts";

/** `/admin/tenants` and what is below it in the API document. */

const path = { id: "acme" };
const policies = [
  { name: "requests", type: "token-bucket", scope: "tenant", rate: { tokens: 100, perSeconds: 1 }, burst: 200 },
];
const acme = {
  id: "acme",
  tier: "standard",
  status: "active",
  limits: null,
  policies,
  version: 3,
  createdAt: "2026-11-30T11:13:57.376Z",
  updatedAt: "2026-11-30T11:13:57.376Z",
};
const key = { keyId: "key_rc3ukcpBNgUINY6q", name: "ci", createdAt: "2026-11-30T11:13:57.411Z", expiresAt: null };

export const TENANTS = {
  list: {
    operationId: "listTenants",
    examples: {
      first: { summary: "The first page", query: { limit: 1 }, status: 200, answer: { tenants: [acme], next: "acme" } },
    },
  },
  read: {
    operationId: "getTenant",
    problems: ["not_found"],
    examples: { acme: { summary: "One that goes by its tier's limits", path, status: 200, answer: acme } },
  },
  put: {
    operationId: "putTenant",
    description:
      "A suspended tenant is told 403 on each request. What it used is carried over to a tier's policies of the same name and type; others start anew. A deleted tenant is made anew.",
    examples: {
      made: { summary: "Make a tenant", path, body: { tier: "standard" }, status: 201, answer: acme },
      suspended: {
        summary: "Suspend it",
        path: { id: "umbrella" },
        body: { tier: "standard", status: "suspended" },
        status: 200,
        answer: { ...acme, id: "umbrella", status: "suspended" },
      },
    },
  },
  remove: {
    operationId: "deleteTenant",
    description:
      "Its id stays known as deleted: whoever holds an issuer's token for it is told 403, until a `PUT` makes it anew.",
    problems: ["not_found"],
    examples: { acme: { summary: "With all that is its own", path, status: 204 } },
  },
  putLimits: {
    operationId: "putTenantLimits",
    description:
      "They hold for its very next request. What was used before is carried over; a tier's policy `requests` of another type than `token-bucket` starts anew.",
    problems: ["not_found"],
    examples: {
      lower: {
        summary: "Five a second, ten at once",
        path,
        body: { requestsPerSecond: 5, burstSize: 10 },
        status: 200,
        answer: {
          ...acme,
          limits: { requestsPerSecond: 5, burstSize: 10, updatedAt: "2026-11-30T11:13:57.390Z" },
          policies: [
            { name: "requests", type: "token-bucket", scope: "tenant", rate: { tokens: 5, perSeconds: 1 }, burst: 10 },
          ],
        },
      },
    },
  },
  removeLimits: {
    operationId: "deleteTenantLimits",
    problems: ["not_found"],
    examples: { acme: { summary: "Back to its tier's", path, status: 204 } },
  },
  reset: {
    operationId: "resetTenant",
    problems: ["not_found"],
    examples: { acme: { summary: "Forgive what it owes", path, status: 204 } },
  },
  usage: {
    operationId: "getTenantUsage",
    problems: ["not_found"],
    headers: { 200: ["Cache-Control"] },
    examples: {
      acme: {
        summary: "Since its object was made, and in the last five minutes",
        path,
        query: { minutes: 5 },
        status: 200,
        answer: {
          tenant: "acme",
          admitted: 1204,
          refused: 17,
          since: "2026-11-30T11:13:57.384Z",
          minutes: [{ minute: "2026-11-30T11:41:00.000Z", admitted: 12, refused: 0 }],
          note: USAGE_NOTE,
        },
      },
    },
  },
  usageOfAll: {
    operationId: "getUsage",
    headers: { 200: ["Cache-Control"] },
    examples: {
      hour: {
        summary: "The last hour, and the three who used most",
        query: { minutes: 60, top: 3 },
        status: 200,
        answer: {
          since: "2026-11-30T10:42:00.000Z",
          until: "2026-11-30T11:41:12.345Z",
          minutes: 60,
          admitted: 1216,
          refused: 17,
          topByUse: [{ tenant: "acme", tier: "standard", admitted: 1204, refused: 17 }],
          topByRefusals: [{ tenant: "acme", tier: "standard", admitted: 1204, refused: 17 }],
        },
      },
    },
  },
  makeKey: {
    operationId: "createKey",
    description: "The secret is in this answer and nowhere else: only its hash is kept.",
    problems: ["not_found", "conflict"],
    headers: { 201: ["Cache-Control"] },
    examples: {
      named: {
        summary: "A key with a name, for good",
        path,
        body: { name: "ci" },
        status: 201,
        answer: { ...key, key: "hg_LAsaSdenALbZDzW932MzmmL1x-oL1oBtd_2HOg6gly0" },
      },
      expiring: {
        summary: "A key that ends by itself",
        path,
        body: { name: "trial", expiresAt: "2126-12-31T23:59:59Z" },
        status: 201,
        answer: {
          ...key,
          keyId: "key_0jVbOq2x2m3Jc5nA",
          name: "trial",
          expiresAt: "2126-12-31T23:59:59.000Z",
          key: "hg_Yb1nV5m0sJ7nUqUQmB8sYt1b2dYfU8bJ0kXn3pQm5iE",
        },
      },
    },
  },
  listKeys: {
    operationId: "listKeys",
    problems: ["not_found"],
    examples: { acme: { summary: "Oldest first", path, status: 200, answer: { keys: [key] } } },
  },
  removeKey: {
    operationId: "deleteKey",
    problems: ["not_found"],
    examples: {
      ci: { summary: "Revoke a key", path: { ...path, keyId: key.keyId }, status: 204 },
    },
  },
} satisfies Record<string, Docs>;
