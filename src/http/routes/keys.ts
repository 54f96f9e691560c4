import { z } from "@hono/zod-openapi";
import { newKey } from "../../identity/api-key.ts";
import { tenantIdSchema } from "../../identity/tenant-id.ts";
import { type ApiKey, createKey, deleteKey, KEYS_PER_TENANT_MAX, listKeys } from "../../store/keys.ts";
import { actOf, commit, isoTime, notFound } from "../admin-write.ts";
import { invalidFields } from "../body.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { TENANTS } from "../examples/tenants.ts";
import { problem } from "../problem.ts";
import { tenantPath } from "../tenant-shape.ts";

/** `/admin/tenants/{id}/keys`: a tenant's API keys. The secret is in the answer that makes the key, and nowhere else. */

/** Names are for people who look at a list. */
const NAME_LENGTH_MAX = 128;
const KEY_ID_LENGTH_MAX = 64;

const keyBody = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(NAME_LENGTH_MAX)
      .refine((name) => name.isWellFormed(), "must be well-formed Unicode")
      .optional(),
    expiresAt: z.iso.datetime({ offset: true, error: "must be a time in ISO 8601 with its offset" }).optional(),
  })
  .default({})
  .openapi("KeySettings");
const keyShape = z
  .object({
    keyId: z.string(),
    name: z.string().nullable(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable(),
  })
  .openapi("ApiKey");
const newKeyShape = keyShape.extend({ key: z.string() }).openapi("NewApiKey");
const keyPath = z.object({ id: tenantIdSchema, keyId: z.string().max(KEY_ID_LENGTH_MAX) });

export function registerKeys(api: Api): void {
  registerCreate(api);
  registerList(api);
  registerDelete(api);
}

function showKey({ keyId, name, createdAtMs, expiresAtMs }: ApiKey) {
  return {
    keyId,
    name,
    createdAt: isoTime(createdAtMs),
    expiresAt: expiresAtMs === null ? null : isoTime(expiresAtMs),
  };
}

function registerCreate(api: Api): void {
  endpoint(
    api,
    {
      method: "post",
      path: "/admin/tenants/{id}/keys",
      summary: "Make a key; its secret is shown this once",
      tags: ["tenants"],
      docs: TENANTS.makeKey,
      params: tenantPath,
      body: keyBody,
      responses: { 201: { description: "The key and its secret", schema: newKeyShape } },
    },
    async (c, { params: { id }, body }) => {
      const expiresAtMs = body.expiresAt === undefined ? null : Date.parse(body.expiresAt);
      if (expiresAtMs !== null && expiresAtMs <= c.get("nowMs")) {
        return problem(c, invalidFields([{ path: "expiresAt", message: "must be in the future" }], "body"));
      }
      const { keyId, secret, hash } = await newKey();
      const key = { keyId, name: body.name ?? null, createdAtMs: c.get("nowMs"), expiresAtMs };
      switch (await commit({ keyId }, () => createKey(c.env.DB, id, { ...key, hash }, actOf(c)))) {
        case "created":
          return c.json({ ...showKey(key), key: secret }, 201, { "Cache-Control": "no-store" });
        case "unknown_tenant":
          return notFound(c, "tenant");
        case "too_many":
          return problem(c, { code: "conflict", detail: `The tenant has ${KEYS_PER_TENANT_MAX} keys already.` });
      }
    },
  );
}

function registerList(api: Api): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/tenants/{id}/keys",
      summary: "A tenant's keys, without their secrets",
      tags: ["tenants"],
      docs: TENANTS.listKeys,
      params: tenantPath,
      responses: { 200: { description: "Oldest first", schema: z.object({ keys: z.array(keyShape) }) } },
    },
    async (c, { params }) => {
      const keys = await listKeys(c.env.DB, params.id);
      return keys === null ? notFound(c, "tenant") : c.json({ keys: keys.map(showKey) });
    },
  );
}

function registerDelete(api: Api): void {
  endpoint(
    api,
    {
      method: "delete",
      path: "/admin/tenants/{id}/keys/{keyId}",
      summary: "Revoke a key",
      tags: ["tenants"],
      docs: TENANTS.removeKey,
      params: keyPath,
      responses: { 204: { description: "Revoked: at once here, within IDENTITY_CACHE_MS everywhere" } },
    },
    async (c, { params: { id, keyId } }) => {
      const gone = await commit({ keyId }, () => deleteKey(c.env.DB, id, keyId, actOf(c)));
      return gone ? c.body(null, 204) : notFound(c, "key");
    },
  );
}
