import type { Context } from "hono";
import { canonicalJson, parseIdempotencyKey } from "../core/idempotency.ts";
import type { JsonObject } from "../core/json.ts";
import type { Problem } from "../core/problem.ts";
import type { KeyUse } from "../durable/submission.ts";
import type { AppEnv } from "./app-env.ts";
import { invalidFields } from "./body.ts";

const utf8 = new TextEncoder();

/** The caller's own name for its command, with what it must not be used for again; null: it gave none. */
export async function readKey(c: Context<AppEnv>, said: JsonObject): Promise<KeyUse | Problem | null> {
  const header = c.req.header("Idempotency-Key");
  if (header === undefined) return null;
  const key = parseIdempotencyKey(header);
  if (key === null) {
    const message = "must be one key of 1 to 255 printable ASCII characters, in quotes if it holds a comma";
    return invalidFields([{ path: "Idempotency-Key", message }], "header");
  }
  const digest = await crypto.subtle.digest("SHA-256", utf8.encode(canonicalJson(said)));
  return { key, fingerprint: new Uint8Array(digest).toHex() };
}
