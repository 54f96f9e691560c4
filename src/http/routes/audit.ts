import { z } from "@hono/zod-openapi";
import { listAudit } from "../../store/audit.ts";
import { isoTime } from "../admin-write.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { OPERATION } from "../examples/operation.ts";

/** `/admin/audit`: who changed what, when. */

const PAGE_MAX = 500;

const page = z.object({
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(100),
  before: z.coerce.number().int().min(1).optional().describe("The `next` of the page before."),
});
const entryShape = z
  .object({
    id: z.int(),
    at: z.iso.datetime(),
    actor: z.string(),
    action: z.string().describe("`noun.verb`: `tier.put`, `key.delete`, …"),
    target: z.string().describe("`noun:name`: `tenant:acme`, …"),
    detail: z.record(z.string(), z.unknown()),
  })
  .openapi("AuditEntry");

export function registerAudit(api: Api): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/audit",
      summary: "Changes, newest first, a page at a time",
      tags: ["operation"],
      docs: OPERATION.audit,
      query: page,
      responses: {
        200: {
          description: "A page; `next` is the `before` of the next one, where there is one",
          schema: z.object({ entries: z.array(entryShape), next: z.int().optional() }),
        },
      },
    },
    async (c, { query }) => {
      const { entries, next } = await listAudit(c.env.DB, query.limit, query.before ?? null);
      const shown = entries.map(({ atMs, ...entry }) => ({ ...entry, at: isoTime(atMs) }));
      return c.json({ entries: shown, ...(next === null ? {} : { next }) });
    },
  );
}
