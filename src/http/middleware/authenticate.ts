import type { Context, MiddlewareHandler, Next } from "hono";
import type { Config } from "../../config.ts";
import { addressCaller } from "../../identity/address.ts";
import type { Caller } from "../../identity/caller.ts";
import { parseCredential } from "../../identity/credentials.ts";
import { takesTokens } from "../../identity/jwt.ts";
import {
  knownCheck,
  type Resolution,
  resolve,
  resolveKnown,
  resolveLocal,
  type StrangerProblem,
} from "../../identity/resolver.ts";
import type { AppEnv } from "../app-env.ts";
import { problem } from "../problem.ts";
import { repeatedCredential } from "../repeated-field.ts";
import { answerStranger, askingOf, tryCredential } from "./stranger.ts";

interface Options {
  /** A request without a credential from this machine is `LOCAL_TENANT`'s, where the deployment names one. */
  readonly local: boolean;
}

/**
 * Who is asking: sets `caller`, or answers. What the caller may do is left to the layers after it.
 * It takes the time from `nowMs`, and is never reached by `OPTIONS`.
 */
export function authenticate(config: Config, { local }: Options): MiddlewareHandler<AppEnv> {
  const openToAddresses = config.ANONYMOUS === "allow";
  const keepMs = config.IDENTITY_CACHE_MS;
  // Most are known and wait for nothing here: what comes next answers them, with no promise of this step's own.
  return function authenticate(c, next) {
    const known = resolveKnown({ nowMs: c.get("nowMs"), keepMs }, c.req.raw.headers);
    if (known === null) return lookInto(c).then((found) => goOn(c, next, found));
    return goOn(c, next, known);
  };

  async function lookInto(c: Context<AppEnv>): Promise<Caller | Response> {
    const repeated = repeatedCredential(c.req.raw.headers);
    if (repeated !== null) return problem(c, repeated);
    const credential = parseCredential(c.req.raw.headers, takesTokens(config));
    return tryCredential(c, await knownCheck(credential), () => judge(c));
  }

  async function judge(c: Context<AppEnv>): Promise<Caller | Response> {
    const asking = askingOf(c, config);
    const { headers } = c.req.raw;
    let resolution: Resolution = await resolve(config, asking, headers);
    if (resolution.kind === "anonymous" && local) {
      resolution = (await resolveLocal(config, asking, c.req.raw)) ?? resolution;
    }
    switch (resolution.kind) {
      case "caller":
        return resolution.caller;
      case "anonymous":
        return openToAddresses ? addressCaller(asking, headers) : answerStranger(c, config, NO_CREDENTIAL);
      case "refused":
        return problem(c, resolution.problem);
      case "stranger":
        return answerStranger(c, config, resolution.problem);
    }
  }
}

function goOn(c: Context<AppEnv>, next: Next, found: Caller | Response): ReturnType<MiddlewareHandler> {
  if (found instanceof Response) return Promise.resolve(found);
  c.set("caller", found);
  return next();
}

const NO_CREDENTIAL: StrangerProblem = {
  code: "unauthenticated",
  detail: "The request carries no credential. Send `Authorization: Bearer <key>`, `X-API-Key`, or HTTP Basic.",
};
