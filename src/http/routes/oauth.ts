import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { ACCESS_TOKEN_SECONDS, makesTokens, signAccessToken } from "../../identity/access-token.ts";
import { addressOf } from "../../identity/address.ts";
import type { Caller } from "../../identity/caller.ts";
import { type Credential, parseCredential, tenantAndKey } from "../../identity/credentials.ts";
import { knownCheck, resolveKey, type StrangerProblem } from "../../identity/resolver.ts";
import type { AppEnv } from "../app-env.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { CALLERS } from "../examples/callers.ts";
import { answerStranger, askingOf, tryCredential } from "../middleware/stranger.ts";
import { refuseOverLimit } from "../middleware/tenant-limit.ts";
import { problem } from "../problem.ts";
import { repeatedCredential } from "../repeated-field.ts";

/**
 * `/oauth/token`: client credentials (RFC 6749, 4.4) for clients that know no other way. The tenant is the client's id,
 * its key the secret; what comes back is a token for a few minutes. Off without `OAUTH_SECRET`.
 */

const tokenForm = z.object({
  grant_type: z.literal("client_credentials"),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
});
const tokenShape = z
  .object({ access_token: z.string(), token_type: z.literal("Bearer"), expires_in: z.int() })
  .openapi("AccessToken");

/** Counted and not refused, up to the ceiling: a client without a token could not even complete a job. */
const COST = { cost: 1, critical: true };

export function registerOAuth(api: Api, config: Config): void {
  if (!makesTokens(config)) return;
  endpoint(
    api,
    {
      method: "post",
      path: "/oauth/token",
      summary: "A short-lived token for a tenant (`client_id`) and its key (`client_secret`)",
      tags: ["identity"],
      docs: CALLERS.token,
      body: tokenForm,
      bodyAs: "form",
      responses: { 200: { description: "The token", schema: tokenShape } },
    },
    (c, { body }) => {
      const repeated = repeatedCredential(c.req.raw.headers);
      return repeated === null ? answerToken(c, config, credentialOf(c, body)) : problem(c, repeated);
    },
  );
}

/** In the form, or as HTTP Basic: clients may do either. */
function credentialOf(c: Context<AppEnv>, form: z.infer<typeof tokenForm>): Credential {
  const { client_id: tenant, client_secret: secret } = form;
  if (tenant !== undefined && secret !== undefined) return tenantAndKey(tenant, secret);
  return parseCredential(c.req.raw.headers, false);
}

async function answerToken(c: Context<AppEnv>, config: Config, credential: Credential): Promise<Response> {
  if (credential.kind === "malformed") return answerStranger(c, config, wrong(credential.detail));
  if (credential.kind !== "api-key" || credential.tenant === undefined) {
    return answerStranger(c, config, wrong("Send client_id and client_secret, or HTTP Basic: a tenant and its key."));
  }
  const holder = await tryCredential(c, await knownCheck(credential), () => judgeKey(c, config, credential));
  if (holder instanceof Response) return holder;
  const { tenant, credential: keyId } = holder;
  if (keyId === null) return problem(c, { code: "internal" });
  c.set("caller", holder);
  const limited = await refuseOverLimit(c, config, COST);
  if (limited instanceof Response) return limited;
  const token = await signAccessToken(config, { tenant, keyId }, c.get("nowMs"));
  return c.json({ access_token: token, token_type: "Bearer", expires_in: ACCESS_TOKEN_SECONDS }, 200, {
    "Cache-Control": "no-store",
  });
}

async function judgeKey(
  c: Context<AppEnv>,
  config: Config,
  credential: Credential & { kind: "api-key" },
): Promise<Caller | Response> {
  const resolution = await resolveKey(askingOf(c, config), credential, addressOf(c.req.raw.headers));
  switch (resolution.kind) {
    case "caller":
      return resolution.caller;
    case "stranger":
      return answerStranger(c, config, resolution.problem);
    case "refused":
      return problem(c, resolution.problem);
  }
}

function wrong(detail: string): StrangerProblem {
  return { code: "unauthenticated", detail };
}
