import { cloudflareRateLimiter, DurableObjectRateLimiter, DurableObjectStore } from "@hono-rate-limiter/cloudflare";
import { type Context, Hono, type Next } from "hono";
import { rateLimiter } from "hono-rate-limiter";
import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import { ANSWER, costOf, keyOf } from "./answer.ts";

/**
 * Other limiters on the same route, each as its own documentation sets it up: `store` is hono-rate-limiter with its store
 * of objects, `binding` the platform's rate limit binding, `memory` rate-limiter-flexible in the isolate's memory. The
 * variable SIDE says which; LIMIT and WINDOW_SECONDS are the limit of each key.
 */

interface Bindings {
  readonly SIDE: "store" | "binding" | "memory";
  readonly LIMIT: number;
  readonly WINDOW_SECONDS: number;
  readonly CACHE: DurableObjectNamespace<DurableObjectRateLimiter>;
  readonly RATE_LIMITER: RateLimit;
}

type Env = { Bindings: Bindings };

export { DurableObjectRateLimiter };

const keyGenerator = (c: Context<Env>) => keyOf(c.req.header("Authorization"));

const byBinding = cloudflareRateLimiter<Env>({ rateLimitBinding: (c) => c.env.RATE_LIMITER, keyGenerator });

let inMemory: RateLimiterMemory | undefined;

async function limit(c: Context<Env>, next: Next): Promise<Response | undefined> {
  const { SIDE, LIMIT, WINDOW_SECONDS, CACHE } = c.env;
  switch (SIDE) {
    case "store":
      return (await rateLimiter<Env>({
        windowMs: WINDOW_SECONDS * 1000,
        limit: LIMIT,
        standardHeaders: "draft-6",
        keyGenerator,
        store: new DurableObjectStore({ namespace: CACHE }),
      })(c, next)) as Response | undefined;
    case "binding":
      return (await byBinding(c, next)) as Response | undefined;
    case "memory": {
      inMemory ??= new RateLimiterMemory({ points: LIMIT, duration: WINDOW_SECONDS });
      try {
        await inMemory.consume(keyGenerator(c), 1);
      } catch (refused) {
        if (refused instanceof Error) throw refused;
        return c.text("Too many requests", 429);
      }
      await next();
    }
  }
}

const app = new Hono<Env>();
app.use("/v1/check", limit);
app.post("/v1/check", async (c) => {
  await costOf(c.req);
  return c.json(ANSWER);
});

export default app;
