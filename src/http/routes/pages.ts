import type { Context } from "hono";
import type { AppEnv } from "../app-env.ts";
import type { Api } from "../endpoint.ts";

/**
 * The pages that people look at, and what they are made of: static files of the deployment. They go through the Worker
 * (`run_worker_first` in wrangler.toml), so that one place says what a page may do, deployed and on this machine alike.
 */

const PAGES = ["/dashboard", "/explorer", "/docs"] as const;
/** Named by their content: what a name once meant it means for good. */
const FILES = "/assets/*";

/**
 * What a page may do: run and show this host's own files, ask this host, and nothing else. Nothing inline, no frame
 * around it, no form that goes anywhere by itself.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY_HEADERS = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
} as const;

/** A page names its files, and those change with a deployment: it is asked for anew each time, mostly for a 304. */
const PAGE_CACHE = "no-cache";
/** A year, the most that caches look at. */
const FILE_CACHE = "public, max-age=31536000, immutable";

export function registerPages({ app }: Api): void {
  for (const page of PAGES) {
    app.get(page, (c) => fromFiles(c, PAGE_CACHE));
    app.get(`${page}/`, (c) => c.redirect(withQueryOf(c, page), 308));
  }
  app.get("/", (c) => c.redirect(withQueryOf(c, PAGES[0]), 302));
  app.get(FILES, (c) => fromFiles(c, FILE_CACHE));
}

/** A page keeps its state in its address: which parameters there are is the page's business. */
function withQueryOf(c: Context<AppEnv>, page: string): string {
  return page + new URL(c.req.url).search;
}

async function fromFiles(c: Context<AppEnv>, cache: string): Promise<Response> {
  const file = await c.env.ASSETS.fetch(c.req.raw);
  if (file.status === 404) return c.notFound();
  const headers = new Headers(file.headers);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) headers.set(name, value);
  headers.set("Cache-Control", file.ok || file.status === 304 ? cache : "no-store");
  return new Response(file.body, { status: file.status, headers });
}
