import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { AddressTries } from "../../core/address-tries.ts";
import { refusesHere } from "../../durable/limiters.ts";
import { addressCaller, addressOf, knownAddressCaller } from "../../identity/address.ts";
import type { Asking } from "../../identity/directory.ts";
import type { StrangerProblem } from "../../identity/resolver.ts";
import type { AppEnv } from "../app-env.ts";
import { noteLimit } from "../decision.ts";
import { countRefusal } from "../edge-counts.ts";
import { problem } from "../problem.ts";
import { rateProblem, setRateHeaders } from "../rate-headers.ts";
import { limitTenant } from "./tenant-limit.ts";

/**
 * What happens to a caller that has not proved who it is: its address pays for the try, and once it has used up its
 * tries it is refused before anything is looked up or compared. So guessing ends in 429, and a guess after that is none.
 */

const TRY = { cost: 1, critical: false };

/** Plain data of this isolate. */
const tries = new AddressTries();
/** The longest that a request waits for a place to try, in milliseconds: a look-up that fails takes 3 s. */
const PLACE_WAIT_MS = 5_000;
/** How often it looks, in milliseconds. A look-up takes about as long. */
const PLACE_STEP_MS = 5;
const NO_PLACE: StrangerProblem = {
  code: "unavailable",
  detail: "Too many credentials from this address are being looked up.",
  retryAfterSeconds: 1,
};

/**
 * Has a credential judged, unless the caller's address is known to have used up its tries.
 *
 * @param isKnown whether this isolate has seen the credential proved: then its address is of no interest. Asked again
 *   while the request waits, since another one may have proved it
 * @param judge looks the credential up, and answers a stranger by {@link answerStranger}
 */
export async function tryCredential<T>(
  c: Context<AppEnv>,
  isKnown: () => boolean,
  judge: () => Promise<T>,
): Promise<T | Response> {
  const address = addressOf(c.req.raw.headers);
  for (let waitedMs = 0; !isKnown(); waitedMs += PLACE_STEP_MS) {
    const refused = refuseUsedUp(c);
    if (refused !== null) return refused;
    const begun = tries.begin(address, Date.now());
    if (begun !== null) return judge().finally(() => tries.end(begun));
    if (waitedMs >= PLACE_WAIT_MS) return problem(c, NO_PLACE);
    await new Promise((resolve) => setTimeout(resolve, PLACE_STEP_MS));
  }
  return judge();
}

/** 429 for an address that this isolate knows to be used up; null for any other. Asks no object and no database. */
function refuseUsedUp(c: Context<AppEnv>): Response | null {
  const caller = knownAddressCaller(c.req.raw.headers);
  if (caller === null) return null;
  // Now, and not when the request came: while it waited another one may have used up the address.
  const asker = { caller, nowMs: Date.now() };
  if (refusesHere(asker, TRY.cost, true)?.outcome !== "rate_limited") return null;
  const decision = refusesHere(asker, TRY.cost, false);
  if (decision?.outcome !== "rate_limited") return null;
  c.set("caller", caller);
  noteLimit(c, TRY, { kind: "decided", decision, degraded: false });
  setRateHeaders(c, decision);
  countRefusal(decision.outcome);
  return problem(c, rateProblem(decision, TRY.cost));
}

/** The questions of this request to D1. */
export function askingOf(c: Context<AppEnv>, config: Config): Asking {
  return {
    env: c.env,
    nowMs: c.get("nowMs"),
    keepMs: config.IDENTITY_CACHE_MS,
    defer: (work) => c.executionCtx.waitUntil(work),
  };
}

/**
 * Charges the caller's address for a try, and answers: the fault itself, or 429 once the address has used up what the
 * anonymous tier gives it. Either way the answer says what is left.
 */
export async function answerStranger(c: Context<AppEnv>, config: Config, fault: StrangerProblem): Promise<Response> {
  c.set("caller", await addressCaller(askingOf(c, config), c.req.raw.headers));
  const decision = await limitTenant(c, config, TRY);
  if (decision instanceof Response) return decision;
  // A tier without any burst has nothing to use up and no time to come back at: the fault is all there is to say.
  if (decision.outcome !== "rate_limited") return problem(c, fault);
  countRefusal(decision.outcome);
  return problem(c, rateProblem(decision, TRY.cost));
}
