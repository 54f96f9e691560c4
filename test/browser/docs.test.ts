import { expect, test } from "vitest";
import { type ApiDocument, operationsOf } from "../support/api-document.ts";
import { describeInBrowser } from "./harness.ts";

// The reference at /docs, in a browser: everything of the document is there, can be found and linked, and works by hand.

/** Choices in a body, a read to try, a form, parameters of all kinds, a list of lists. */
const ONE_OF_EACH = ["sendCommand", "getLimits", "createToken", "getCommand", "putTier"];

describeInBrowser("the API reference", (site) => {
  const readDocument = async (): Promise<ApiDocument> => (await fetch(`${site.url()}/openapi.json`)).json();
  const opened = async (path = "/docs", options: Parameters<typeof site.open>[1] = {}) => {
    const tab = await site.open(path, options);
    await tab.page.getByRole("heading", { name: "Headgate API" }).waitFor();
    return tab;
  };

  test("shows each route of the document with its method, its path and what it answers", async () => {
    const routes = operationsOf(await readDocument());
    const { page } = await opened();
    expect(await page.locator("article").count()).toBe(routes.length);
    for (const { method, path, operation } of routes) {
      const text = (await page.locator(`article#${operation.operationId}`).textContent()) ?? "";
      expect(text).toContain(`${method} ${path}`);
      expect(text).toContain(operation.summary.replaceAll("`", ""));
      for (const status of Object.keys(operation.responses)) expect(text).toContain(status);
      for (const { name } of operation.parameters ?? []) expect(text).toContain(name);
    }
  });

  test("lists each route once, and its link leads to it", async () => {
    const routes = operationsOf(await readDocument());
    const { page } = await opened();
    const links = await page.locator(".d-list li a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    expect(links.sort()).toEqual(routes.map(({ operation }) => `#${operation.operationId}`).sort());
    await page.getByRole("link", { name: "DELETE /v1/commands/{id}" }).click();
    expect(new URL(page.url()).hash).toBe("#cancelCommand");
    expect(await page.locator(".d-list [aria-current]").allTextContents()).toEqual(["DELETE /v1/commands/{id}"]);
    await expect.poll(() => topOf("cancelCommand")).toBeLessThan(100);
    async function topOf(id: string) {
      return Math.abs(await page.locator(`#${id}`).evaluate((element) => element.getBoundingClientRect().top));
    }
  });

  test("a link to a route opens the page at it", async () => {
    const { page } = await opened("/docs#redriveDeadLetter");
    const top = () => page.locator("#redriveDeadLetter").evaluate((element) => element.getBoundingClientRect().top);
    await expect.poll(async () => Math.abs(await top())).toBeLessThan(200);
    const isListed = () =>
      page.locator(".d-list [aria-current]").evaluate((link) => {
        const { top: at } = link.getBoundingClientRect();
        return at > 0 && at < innerHeight;
      });
    await expect.poll(isListed).toBe(true);
  });

  test("a search leaves the routes that have all its words, says how many, and Enter goes to the first", async () => {
    const { page } = await opened();
    const search = page.getByRole("searchbox", { name: "Search routes" });
    await search.fill("dead letter post");
    await expect.poll(() => page.locator(".d-list li").count()).toBe(1);
    await page.getByText("1 route", { exact: true }).waitFor();
    await search.press("Enter");
    await expect.poll(() => new URL(page.url()).hash).toBe("#redriveDeadLetter");
    await search.fill("no such thing");
    await page.getByText("No route has these words.").waitFor();
    expect(await page.locator(".d-list li").count()).toBe(0);
  });

  test("an example is copied as a curl command", async () => {
    const { page } = await opened();
    const card = page.locator("article#sendCommand");
    await card.getByRole("button", { name: "Copy as curl: sendCommand deploy" }).click();
    await card.getByText("Copied.").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`curl -X POST '${site.url()}/v1/commands'`);
    expect(copied).toContain('-H "Authorization: Bearer $TENANT_KEY"');
    expect(copied).toContain(`-d '{"intent":"DEPLOYMENT:CREATE"`);
  });

  test("a read is tried with a key that the page forgets", async () => {
    const expected = [/^answered 401: GET .*\/v1\/limits$/, /^console: .*401/];
    const { page } = await opened("/docs#getLimits", { expected });
    const card = page.locator("article#getLimits");
    await card.getByText("Try it").click();
    await card.getByRole("button", { name: "Send getLimits" }).click();
    await card.getByText("unauthenticated", { exact: false }).last().waitFor();
    await page.getByLabel("A tenant's key", { exact: true }).fill("hg_dev_premium");
    await card.getByRole("button", { name: "Send getLimits" }).click();
    await card.getByText('"tenant": "demo-premium"').waitFor();
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
    expect(kept).not.toContain("hg_dev_premium");
    await page.reload();
    await page.getByLabel("A tenant's key", { exact: true }).waitFor();
    expect(await page.getByLabel("A tenant's key", { exact: true }).inputValue()).toBe("");
  });

  test("a read with parameters goes where they say", async () => {
    const { page } = await opened("/docs#getTier");
    await page.getByLabel("An operator's token").fill("dev-admin");
    const card = page.locator("article#getTier");
    await card.getByText("Try it").click();
    await card.getByLabel("name (required)").fill("premium");
    await card.getByRole("button", { name: "Send getTier" }).click();
    await card.getByText('"name": "premium"').waitFor();
  });

  test("everything is reached by the keyboard", async () => {
    const { page } = await opened();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    await page.getByRole("searchbox").focus();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("href"))).toMatch(/^#tag-/);
    const fold = page.locator("article#sendCommand .d-columns summary").first();
    await fold.focus();
    const isOpen = () => fold.evaluate((summary) => summary.parentElement?.hasAttribute("open"));
    const before = await isOpen();
    await page.keyboard.press("Enter");
    expect(await isOpen()).toBe(!before);
  });

  test("a document that cannot be read is said, and asked for again", async () => {
    const expected = [/^failed: GET .*openapi\.json/, /^console: /];
    const { page } = await opened("/docs", { expected });
    await page.route("**/openapi.json", (route) => route.abort());
    await page.reload();
    await page.getByRole("alert").waitFor();
    await page.unroute("**/openapi.json");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Headgate API" }).waitFor();
  });

  test.for([
    ["light", 1440],
    ["dark", 1440],
    ["light", 360],
    ["dark", 360],
  ] as const)(
    "has no serious fault in %s at %i pixels, and nothing is wider than the window",
    async ([theme, width]) => {
      const { page, axe, screenshot } = await opened("/docs", { theme, width });
      await screenshot(`docs-${theme}-${width}`);
      await page.locator("details").evaluateAll((all) => {
        for (const one of all) one.setAttribute("open", "");
      });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      // All routes are drawn by the same parts; with all of them this would take half a minute.
      await page.locator("article").evaluateAll((all, kept) => {
        for (const one of all) if (!kept.includes(one.id)) one.remove();
      }, ONE_OF_EACH);
      expect(await axe()).toEqual([]);
    },
  );
});
