import { z } from "@hono/zod-openapi";
import { type Api, endpoint } from "../endpoint.ts";
import { OPERATION } from "../examples/operation.ts";

/** `/admin/session`: whose token this is, so that a page knows what it may offer. Asks nobody else. */

const session = z.object({ actor: z.enum(["admin", "viewer"]) }).openapi("Session");

export function registerSession(api: Api): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/session",
      summary: "Whose token this is: `admin` may change things, `viewer` may only look",
      tags: ["operation"],
      docs: OPERATION.session,
      responses: { 200: { description: "Its owner", schema: session } },
    },
    (c) => c.json({ actor: c.var.actor }, 200, { "Cache-Control": "no-store" }),
  );
}
