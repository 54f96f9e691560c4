import type { Config } from "../../config.ts";
import { makesTokens } from "../../identity/access-token.ts";
import type { AnyShape } from "../endpoint.ts";
import type { Access } from "./docs.ts";

/** Who may ask, as the API document says it: the credentials that this deployment takes, and which of them a route takes. */

type Requirement = Readonly<Record<string, string[]>>;

export interface Schemes {
  readonly components: Readonly<Record<string, Scheme>>;
  /** Any one of these says who a tenant is. An empty one: a request without a credential is somebody too. */
  readonly tenant: readonly Requirement[];
}

type Scheme = {
  readonly type: "http" | "apiKey";
  readonly description: string;
  readonly scheme?: string;
  readonly bearerFormat?: string;
  readonly name?: string;
  readonly in?: "header";
};

const bearer = (description: string, bearerFormat?: string): Scheme => ({
  type: "http",
  scheme: "bearer",
  description,
  ...(bearerFormat === undefined ? {} : { bearerFormat }),
});

/** What is a credential in a deployment of these variables. */
export function schemesOf(config: Config): Schemes {
  const tokens = makesTokens(config) || config.JWT_JWKS_URL !== "";
  const keys = {
    tenantKey: bearer("A tenant's key: `Authorization: Bearer hg_…`."),
    tenantKeyHeader: {
      type: "apiKey",
      in: "header",
      name: "X-API-Key",
      description: "A tenant's key in a header of its own.",
    },
    tenantBasic: { type: "http", scheme: "basic", description: "HTTP Basic: the tenant, and its key as the password." },
    ...(tokens ? { tenantToken: bearer(tokenText(config), "JWT") } : {}),
  } satisfies Record<string, Scheme>;
  const operators = {
    adminToken: bearer("The operator's token, for everything under `/admin`."),
    viewerToken: bearer("A token that may read under `/admin`, and change nothing."),
  };
  const anybody = config.ANONYMOUS === "allow" ? [{}] : [];
  return {
    components: { ...keys, ...operators },
    tenant: [...Object.keys(keys).map((name) => ({ [name]: [] })), ...anybody],
  };
}

function tokenText(config: Config): string {
  const own = makesTokens(config) ? ["of `POST /oauth/token`"] : [];
  const foreign = config.JWT_JWKS_URL === "" ? [] : [`of the issuer \`${config.JWT_ISSUER}\``];
  return `A signed token ${[...own, ...foreign].join(", or ")}: \`Authorization: Bearer …\`.`;
}

/** What a route takes as a credential; null: it asks for none. */
export function securityOf(schemes: Schemes, access: Access, method: AnyShape["method"]): Requirement[] | null {
  const operator: Requirement[] = [{ adminToken: [] }, ...(method === "get" ? [{ viewerToken: [] }] : [])];
  switch (access) {
    case "tenant":
      return [...schemes.tenant];
    case "admin":
      return operator;
    // Its credential may be in the body.
    case "client":
      return [{}, { tenantBasic: [] }];
    case "open":
      return [{}, ...operator];
    case "none":
      return [];
  }
}
