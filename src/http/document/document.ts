import { etag } from "hono/etag";
import type { Config } from "../../config.ts";
import { invalidFields } from "../body.ts";
import { type AnyShape, type Api, jsonObject } from "../endpoint.ts";
import { problem, problemSchema } from "../problem.ts";
import { readQuery } from "../query.ts";
import { ABOUT } from "./about.ts";
import { registerHeaders } from "./headers.ts";
import { ORIGIN, operationOf } from "./operation.ts";
import { schemesOf } from "./security.ts";

/**
 * `/openapi.json`: the API document, made of the routes' own schemas. Register it last: it shows what was registered
 * before. It is made once, when it is first asked for, and is plain text from then on.
 */

/** How long a client may go by what it has, in seconds: a deployment that changes is seen soon. */
const FRESH_SECONDS = 300;

export function registerDocument(api: Api, config: Config): void {
  api.shapes.push(OWN_SHAPE);
  // Plain text, so that requests may share it. It is made at one go, because what it registers may be there only once.
  let text: string | undefined;
  api.app.get("/openapi.json", etag(), async (c) => {
    const query = readQuery(c.req.url, []);
    if ("errors" in query) return problem(c, invalidFields(query.errors, "query"));
    text ??= JSON.stringify(documentOf(api, config));
    const here = text.replaceAll(ORIGIN, new URL(c.req.url).origin);
    return c.body(here, 200, {
      "Content-Type": "application/json",
      "Cache-Control": `public, max-age=${FRESH_SECONDS}`,
      ETag: await tagOf(here),
    });
  });
}

/** This route itself. */
const OWN_SHAPE: AnyShape = {
  method: "get",
  path: "/openapi.json",
  summary: "This document",
  tags: ["observation"],
  responses: { 200: { description: "The API as OpenAPI 3.1", schema: jsonObject } },
  docs: { operationId: "getApiDocument", headers: { 200: ["Cache-Control", "ETag"] }, examples: {} },
};

async function tagOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(digest).slice(0, 16), (byte) => byte.toString(16).padStart(2, "0"));
  return `"${hex.join("")}"`;
}

function documentOf({ app, shapes }: Api, config: Config) {
  const { openAPIRegistry: registry } = app;
  const schemes = schemesOf(config);
  registry.register("Problem", problemSchema);
  registerHeaders(registry);
  for (const [name, scheme] of Object.entries(schemes.components)) {
    registry.registerComponent("securitySchemes", name, scheme);
  }
  for (const shape of shapes) registry.registerPath(operationOf(registry, shape, schemes));
  return app.getOpenAPI31Document(ABOUT);
}
