/** The entry of rate-limiter-flexible that its documentation names for one limiter alone comes without a declaration. */
declare module "rate-limiter-flexible/lib/RateLimiterMemory.js" {
  import type { RateLimiterMemory } from "rate-limiter-flexible";

  const Limiter: typeof RateLimiterMemory;
  type Limiter = RateLimiterMemory;
  export default Limiter;
}
