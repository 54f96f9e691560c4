import type { MiddlewareHandler } from "hono";
import type { Config } from "../../config.ts";
import type { Problem } from "../../core/problem.ts";
import { addressCaller } from "../../identity/address.ts";
import { type Resolution, resolve, resolveKnown, resolveLocal } from "../../identity/resolver.ts";
import type { AppEnv } from "../app-env.ts";
import { problem } from "../problem.ts";
import { answerStranger, askingOf } from "./stranger.ts";

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
  return async function authenticate(c, next) {
    const known = resolveKnown({ nowMs: c.get("nowMs"), keepMs }, c.req.raw.headers);
    if (known !== null) {
      c.set("caller", known);
      return next();
    }
    const asking = askingOf(c, config);
    const { headers } = c.req.raw;
    let resolution: Resolution = await resolve(config, asking, headers);
    if (resolution.kind === "anonymous" && local) {
      resolution = (await resolveLocal(config, asking, c.req.raw)) ?? resolution;
    }
    switch (resolution.kind) {
      case "caller":
        c.set("caller", resolution.caller);
        return next();
      case "anonymous":
        if (!openToAddresses) return answerStranger(c, config, NO_CREDENTIAL);
        c.set("caller", await addressCaller(asking, headers));
        return next();
      case "refused": {
        const { problem: fault } = resolution;
        // Whoever is known and refused, or cannot be looked up, has not guessed.
        return fault.code === "unauthenticated" ? answerStranger(c, config, fault) : problem(c, fault);
      }
    }
  };
}

const NO_CREDENTIAL: Problem & { code: "unauthenticated" } = {
  code: "unauthenticated",
  detail: "The request carries no credential. Send `Authorization: Bearer <key>`, `X-API-Key`, or HTTP Basic.",
};
