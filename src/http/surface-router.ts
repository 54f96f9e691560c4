import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";

/**
 * One router for our own routes and one for those of the engine's surface. The engine's have names where others of the
 * same kind have keys (`/process-instances/search` and `/process-instances/{key}`), which the fast kind of router cannot
 * hold; in one with them every request would be looked up the slow way.
 */
export class SurfaceRouter<T> implements Router<T> {
  readonly name = "SurfaceRouter";
  readonly #own = smartRouter<T>();
  readonly #engine = smartRouter<T>();

  add(method: string, path: string, handler: T): void {
    const isForAll = path === "*" || path === "/*";
    if (isForAll || !isEnginePath(path)) this.#own.add(method, path, handler);
    if (isForAll || isEnginePath(path)) this.#engine.add(method, path, handler);
  }

  match(method: string, path: string): Result<T> {
    return (isEnginePath(path) ? this.#engine : this.#own).match(method, path);
  }

  /** The kind that our own routes were found to fit, once there was a request. */
  get ownKind(): string {
    return this.#own.name;
  }
}

function smartRouter<T>(): SmartRouter<T> {
  return new SmartRouter({ routers: [new RegExpRouter(), new TrieRouter()] });
}

function isEnginePath(path: string): boolean {
  return path === "/v2" || path.startsWith("/v2/") || path.startsWith("/t/");
}
