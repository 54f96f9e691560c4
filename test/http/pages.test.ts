import { exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";

// The pages as the Worker hands them out. What they show is for test/browser.

const get = (path: string, init?: RequestInit) =>
  exports.default.fetch(`https://headgate.test${path}`, { redirect: "manual", ...init });

/** The files of this host that a page names. */
function namedIn(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = ""]) => name);
}

describe.each(["/dashboard", "/explorer", "/docs"])("%s", (path) => {
  test("is a page that may run and show this host's files, ask this host, and nothing else", async () => {
    const page = await get(path);
    expect(page.status).toBe(200);
    expect(page.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("Content-Security-Policy")?.split("; ")).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "font-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(page.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(page.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(page.headers.get("Cache-Control")).toBe("no-cache");
    expect(page.headers.get("X-Request-Id")).not.toBeNull();
  });

  test("has nothing inline, and names only files that this host has and that may be kept for good", async () => {
    const html = await (await get(path)).text();
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
    const files = namedIn(html);
    expect(files.filter((name) => name.endsWith(".js"))).not.toEqual([]);
    for (const name of files) {
      expect(name).toMatch(/^\/assets\/[\w.-]+-[\w-]{8}\.(js|css|svg)$/);
      const file = await get(name);
      expect(file.status).toBe(200);
      expect(file.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
      expect(file.headers.get("X-Content-Type-Options")).toBe("nosniff");
      await file.arrayBuffer();
    }
  });

  test("is not sent again to who has it", async () => {
    const first = await get(path);
    await first.text();
    const again = await get(path, { headers: { "If-None-Match": first.headers.get("ETag") ?? "" } });
    expect(again.status).toBe(304);
    expect(again.headers.get("Content-Security-Policy")).not.toBeNull();
  });

  test("has one address", async () => {
    const other = await get(`${path}/`);
    expect(other.status).toBe(308);
    expect(other.headers.get("Location")).toBe(path);
  });
});

test.each(["/assets/nothing.js", "/assets/../package.json", "/dashboard/index.html", "/index.html", "/assets/"])(
  "%s is not there, and is said so like everything that is not there",
  async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(404);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(await answer.json()).toMatchObject({ code: "not_found" });
  },
);
