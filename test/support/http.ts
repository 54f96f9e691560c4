import { env, exports } from "cloudflare:workers";

/** A client for tests inside workerd: whole requests through the real Worker, and tenants made to order. */

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export const ADMIN = { Authorization: "Bearer test-admin" };
export const VIEWER = { Authorization: "Bearer test-viewer" };

/** @param body sent as JSON when it is not text already */
export async function call<T = Record<string, unknown>>(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: unknown,
): Promise<Answer<T>> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const response = await exports.default.fetch(`https://gate.test${path}`, {
    method,
    headers: { "CF-Connecting-IP": "192.0.2.1", ...headers },
    ...(text === undefined ? {} : { body: text }),
  });
  const answered = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: answered === "" ? undefined : JSON.parse(answered),
  };
}

/** As {@link call}, and gives the body of the answer as it came. */
export async function callText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string | Uint8Array,
): Promise<{ readonly status: number; readonly text: string }> {
  const sent = { "CF-Connecting-IP": "192.0.2.1", ...headers };
  const response = await exports.default.fetch(`https://gate.test${path}`, {
    method,
    headers: sent,
    body: body ?? null,
  });
  return { status: response.status, text: await response.text() };
}

/** Makes a tenant with a key of its own, on a tier with these limits. Gives the headers that are its credential. */
export async function newTenant(
  name: string,
  limits: { requestsPerSecond: number; burstSize: number } = { requestsPerSecond: 1000, burstSize: 100_000 },
): Promise<Record<string, string>> {
  const path = `/admin/tenants/${encodeURIComponent(name)}`;
  await expectOk(call("PUT", path, ADMIN, { tier: "standard" }));
  await expectOk(call("PUT", `${path}/limits`, ADMIN, limits));
  const made = await expectOk(call<{ key: string }>("POST", `${path}/keys`, ADMIN, {}));
  return { Authorization: `Bearer ${made.body.key}` };
}

async function expectOk<T>(answer: Promise<Answer<T>>): Promise<Answer<T>> {
  const got = await answer;
  if (got.status >= 300) throw new Error(`set-up failed: ${got.status} ${JSON.stringify(got.body)}`);
  return got;
}

export function engineStub() {
  return env.COMMAND_ENGINE.get(env.COMMAND_ENGINE.idFromName("engine:0"));
}
