import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { z } from "zod";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";

/** Requests to the whole app under a configuration of the test's own, and what their answers say. */

const VARS = { ADMIN_TOKEN: "test-admin", VIEWER_TOKEN: "test-viewer" };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of the answer; null without a body. */
  readonly body: unknown;
  /** The answer as it is, where the request asked for that: `body` is then null. */
  readonly text?: string;
}

export type Ask = (
  method: string,
  path: string,
  given?: {
    headers?: Record<string, string>;
    body?: unknown;
    raw?: string;
    env?: Env;
    asText?: boolean;
    /** What goes on behind the answer is not waited for: it has a timer that the test holds. */
    leaveBehind?: boolean;
  },
) => Promise<Answer>;

/** The app under these variables. A request without headers of its own is an admin's. */
export function appOf(vars: Record<string, string> = {}): Ask {
  const app = createApp(parseConfig({ ...VARS, ...vars }));
  return async (method, path, given = {}) => {
    const body = given.raw ?? (given.body === undefined ? null : JSON.stringify(given.body));
    const headers = given.headers ?? { Authorization: "Bearer test-admin" };
    const context = createExecutionContext();
    const request = new Request(`https://headgate.test${path}`, { method, headers, body });
    const response = await app.fetch(request, given.env ?? env, context);
    if (!given.leaveBehind) await waitOnExecutionContext(context);
    const text = await response.text();
    if (given.asText) return { status: response.status, headers: response.headers, body: null, text };
    return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
  };
}

/** An environment in which one kind of part is away. */
export function envWithout(part: "DB" | "TENANT_LIMITER"): Env {
  const away = async () => {
    throw new Error("away");
  };
  if (part === "TENANT_LIMITER") {
    const stub = new Proxy({}, { get: () => away });
    return { ...env, TENANT_LIMITER: new Proxy(env.TENANT_LIMITER, { get: () => () => stub }) };
  }
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(real, {
      get: (target, name) => (name === "bind" ? (...v: unknown[]) => statement(target.bind(...v)) : away),
    });
  const DB = new Proxy(env.DB, {
    get: (target, name) => (name === "prepare" ? (sql: string) => statement(target.prepare(sql)) : away),
  });
  return { ...env, DB };
}

const keyAnswer = z.object({ keyId: z.string(), key: z.string() });

/** Makes a tenant and a key of it. */
export async function tenantWithKey(ask: Ask, id: string, tier = "free"): Promise<{ keyId: string; key: string }> {
  await ask("PUT", `/admin/tenants/${encodeURIComponent(id)}`, { body: { tier } });
  const { body } = await ask("POST", `/admin/tenants/${encodeURIComponent(id)}/keys`);
  return keyAnswer.parse(body);
}

export function bearer(token: string, address = "192.0.2.1"): Record<string, string> {
  return { Authorization: `Bearer ${token}`, "CF-Connecting-IP": address };
}
