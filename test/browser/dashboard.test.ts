import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import type { AdminQueue } from "../../src/web/dashboard/shapes.ts";
import { post } from "../support/node/client.ts";
import { ADMIN, deploy, figure, flood, part, row, signedIn, VIEWER, word } from "./dashboard-support.ts";
import { describeInBrowser } from "./harness.ts";

// The dashboard on the real Worker, with an engine that does five commands a second and holds twenty.

const BOUND = 20;
const VARS = [
  `QUEUE_MAX:${BOUND}`,
  "ENGINE_RATE_MAX:5",
  "ENQUEUE_WAIT_MS:0",
  "IDENTITY_CACHE_MS:100",
  `VIEWER_TOKEN:${VIEWER}`,
];
const PREMIUM = "hg_dev_premium";
/** An overload takes seconds to build up and to pass on a machine that other tests share. */
const PATIENCE = { timeout: 30_000 };

describeInBrowser(
  "the dashboard",
  (site) => {
    test("lets nobody in with a wrong token, says what to do, and then lets in who has a right one", async () => {
      const expected = [/^answered 401: GET .*\/admin\/session$/, /^console: .*401/];
      const { page } = await site.open("/dashboard", { expected });
      // Typing may begin at once, and the keyboard is enough.
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
      await page.keyboard.type("a-guess");
      await page.keyboard.press("Enter");
      const told = page.getByRole("alert").filter({ hasText: "not a token of this deployment" });
      await told.waitFor();
      expect(await told.textContent()).toContain("wrangler secret put ADMIN_TOKEN");
      await page.getByLabel("Token").fill(ADMIN);
      await page.keyboard.press("Enter");
      await page.getByText("Live, every second").waitFor();
      expect(await page.locator(".bar .badge").textContent()).toBe("Admin");
    });

    test("keeps the token in the tab alone: not in the address, gone with signing out, unknown to another tab", async () => {
      const { page } = await signedIn(site, ADMIN);
      expect(page.url()).toBe(`${site.url()}/dashboard`);
      expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(ADMIN);
      expect(await page.context().cookies()).toEqual([]);
      await page.reload();
      await page.getByText("Live, every second").waitFor();
      const other = await page.context().newPage();
      await other.goto(page.url());
      await other.getByLabel("Token").waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Token").waitFor();
      expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain(ADMIN);
      await page.reload();
      await page.getByLabel("Token").waitFor();
    });

    test("loads less than 100 KB of script before anybody scrolls, and the rest when somebody does", async () => {
      const { page } = await signedIn(site, ADMIN);
      const sizes = new Map<string, Promise<number>>();
      page.on("response", (response) => {
        if (!response.url().endsWith(".js")) return;
        sizes.set(
          response.url(),
          response.body().then((body) => body.length),
        );
      });
      const usage = page.waitForResponse("**/admin/usage*");
      await page.reload();
      await page.getByText("Live, every second").waitFor();
      await usage;
      const first = await Promise.all(sizes.values());
      expect(first.reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000);
      await part(page, "Tiers");
      expect(sizes.size).toBeGreaterThan(first.length);
    });

    test("shows an overload while it happens, with the figures that callers saw, and its end", async () => {
      await deploy(site.url(), PREMIUM);
      const { page, axe, screenshot } = await signedIn(site, ADMIN);
      await expect.poll(() => word(page)).toBe("OK");
      let sent = { accepted: 0, refused: 0 };
      let deepest = 0;
      // More than the queue has room for, again and again.
      for (let n = 0; n < 6; n++) {
        const { accepted, refused } = await flood(site.url(), PREMIUM, 40);
        sent = { accepted: sent.accepted + accepted, refused: sent.refused + refused };
        // The next comes when the page has seen this one.
        const { body } = await post<AdminQueue>(site.url(), "/admin/queue", ADMIN, undefined, "GET");
        await page.getByText(`${body.counters.accepted} in all`).waitFor();
        deepest = Math.max(deepest, Number(await figure(page, "Queued")));
      }
      expect(sent.refused).toBeGreaterThan(50);
      await expect.poll(() => word(page), PATIENCE).toBe("Refusing");
      expect(await page.locator(".banner-headline").textContent()).toMatch(/queue is full|though there is room/);
      const refusals = await part(page, "Refused, by reason");
      const queueFull = () => row(refusals, "queue_full").getByRole("cell").last().textContent();
      await expect.poll(queueFull, PATIENCE).toBe(String(sent.refused));
      expect(deepest).toBeGreaterThan(BOUND / 2);
      expect(deepest).toBeLessThanOrEqual(BOUND);
      expect(await figure(page, "Pace")).toMatch(/^[3-6]\.\d\/s$/);
      const queueChart = page.getByRole("figure").filter({ hasText: "bound" });
      expect(await queueChart.locator("b").nth(1).textContent()).toBe(String(BOUND));
      await queueChart.locator(".u-over").hover({ position: { x: 5, y: 20 } });
      await expect.poll(() => queueChart.locator(".chart-at").textContent()).toMatch(/^(\d+ s ago|now)$/);
      expect(await axe()).toEqual([]);
      await screenshot("dashboard-overload");
      await expect.poll(() => word(page), PATIENCE).toBe("OK");
      await expect.poll(() => figure(page, "Queued"), PATIENCE).toBe("0");
    });

    test("pauses with a second question, refuses while paused, and resumes", async () => {
      await deploy(site.url(), PREMIUM);
      const { page, screenshot } = await signedIn(site, ADMIN);
      // Whatever becomes of this test, the others find a running engine.
      onTestFinished(async () => void (await post(site.url(), "/admin/engine/resume", ADMIN, {})));
      const pause = page.getByRole("button", { name: "Pause", exact: true });
      await pause.click();
      const dialog = page.getByRole("dialog", { name: "Pause the engine?" });
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      expect(await word(page)).not.toBe("Paused");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Pause");

      await pause.click();
      await dialog.getByRole("button", { name: "Pause" }).click();
      await expect.poll(() => word(page)).toBe("Paused");
      const taken = await flood(site.url(), PREMIUM, 3);
      expect(taken).toEqual({ accepted: 3, refused: 0 });
      await expect.poll(() => figure(page, "Queued")).toBe("3");

      await page.getByRole("button", { name: "Refuse new commands" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Refuse new commands" }).click();
      await page.getByText("new commands are refused.").waitFor();
      expect(await flood(site.url(), PREMIUM, 3)).toEqual({ accepted: 0, refused: 3 });
      await screenshot("dashboard-paused");

      await page.getByRole("button", { name: "Resume" }).click();
      await expect.poll(() => word(page), PATIENCE).toBe("OK");
      await expect.poll(() => figure(page, "Queued"), PATIENCE).toBe("0");
      const changes = await part(page, "Last changes");
      const deeds = () => changes.getByRole("rowheader").allTextContents();
      await expect.poll(deeds).toEqual(expect.arrayContaining(["engine.pause", "engine.resume"]));
    });

    test("changes a tier, and the next request obeys it", async () => {
      const check = async () => {
        const answer = await post<{ allowed: boolean }>(site.url(), "/v1/check", "hg_dev_free", { cost: 30 });
        return answer.body.allowed;
      };
      expect(await check()).toBe(true);
      const expected = [/^answered 400: PUT .*\/admin\/tiers\/free$/, /^console: .*400/];
      const { page, axe, screenshot } = await signedIn(site, ADMIN, { expected });
      const tiers = await part(page, "Tiers");
      await tiers.getByRole("button", { name: "Change free" }).click();
      const dialog = page.getByRole("dialog", { name: "Change the tier free" });
      await dialog.getByLabel("Burst").fill("a few");
      await dialog.getByRole("button", { name: "Change the tier" }).click();
      await dialog.locator(".fault").waitFor();
      expect(await dialog.getByLabel("Burst").getAttribute("aria-invalid")).toBe("true");
      expect(await axe()).toEqual([]);
      await screenshot("dashboard-tier");
      await dialog.getByLabel("Burst").fill("20");
      await dialog.getByRole("button", { name: "Change the tier" }).click();
      await dialog.waitFor({ state: "detached" });
      expect(await check()).toBe(false);
      await expect.poll(() => row(tiers, "free").textContent()).toContain("burst 20");
    });

    test("makes a tenant, gives it a key that is shown once, and takes all of it away", async () => {
      // Whether its id is free is asked first, and the answer to that is a 404.
      const expected = [/^answered 404: GET .*\/admin\/tenants\/acme%20%2F%20north$/, /^console: .*404/];
      const { page, axe, screenshot } = await signedIn(site, ADMIN, { expected });
      const tenants = await part(page, "Tenants");
      await tenants.getByRole("button", { name: "New tenant" }).click();
      const making = page.getByRole("dialog", { name: "New tenant" });
      await making.getByLabel("Id").fill("acme / north");
      await making.getByLabel("Tier").selectOption("premium");
      await making.getByRole("button", { name: "Make the tenant" }).click();
      const dialog = page.getByRole("dialog", { name: "Tenant acme / north", exact: true });
      await dialog.getByLabel("Name").fill("for the tests");
      await dialog.getByRole("button", { name: "Make a key" }).click();
      const key = (await dialog.locator(".secret").textContent()) ?? "";
      await dialog.getByRole("button", { name: "Copy" }).click();
      await dialog.getByText("Copied.").waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
      expect(await axe()).toEqual([]);
      await screenshot("dashboard-tenant");
      await dialog.getByRole("button", { name: "I have it" }).click();
      expect(await page.content()).not.toContain(key);
      expect((await post(site.url(), "/v1/check", key, {})).status).toBe(200);

      await dialog.getByLabel("Requests a second").fill("1");
      await dialog.getByLabel("Burst").fill("2");
      await dialog.getByRole("button", { name: "Give it these limits" }).click();
      await dialog.getByText("1/s, burst 2").waitFor();
      const { body } = await post<{ remaining: number }>(site.url(), "/v1/check", key, {});
      expect(body.remaining).toBeLessThanOrEqual(1);

      await dialog.getByRole("button", { name: "Revoke for the tests" }).click();
      await page.getByRole("dialog", { name: "Revoke this key?" }).getByRole("button", { name: "Revoke" }).click();
      await expect.poll(async () => (await post(site.url(), "/v1/check", key, {})).status).toBe(401);
      await dialog.getByRole("button", { name: "Delete the tenant" }).click();
      await page
        .getByRole("dialog", { name: "Delete the tenant acme / north?" })
        .getByRole("button", { name: "Delete" })
        .click();
      await dialog.waitFor({ state: "detached" });
      await expect.poll(() => row(tenants, "acme / north").count()).toBe(0);
    });

    test("changes flow control after showing what that changes", async () => {
      const expected = [/^answered 400: PATCH .*\/admin\/flow-control$/, /^console: .*400/];
      const { page, axe, screenshot } = await signedIn(site, ADMIN, { expected });
      const flow = await part(page, "Flow control");
      await flow.getByRole("button", { name: "Change" }).click();
      const dialog = page.getByRole("dialog", { name: "Change flow control" });
      await dialog.getByLabel("Queue bound, commands").fill("0");
      await dialog.getByRole("button", { name: "Look it over" }).click();
      await dialog.getByText("bound: 20 → 0").waitFor();
      await dialog.getByRole("button", { name: "Change it" }).click();
      await dialog.locator(".fault").waitFor();
      await dialog.getByLabel("Queue bound, commands").fill("25");
      await dialog.getByRole("button", { name: "Look it over" }).click();
      await dialog.getByText("bound: 20 → 25").waitFor();
      expect(await axe()).toEqual([]);
      await screenshot("dashboard-flow");
      await dialog.getByRole("button", { name: "Change it" }).click();
      await dialog.waitFor({ state: "detached" });
      await flow.getByText("25 commands").waitFor();
      await page.getByText("of 25").waitFor();
      await post(site.url(), "/admin/flow-control", ADMIN, { bound: BOUND }, "PATCH");
    });

    test("offers a viewer nothing to change, and lets it look at everything", async () => {
      const asked: string[] = [];
      const prepare = async (page: Page) => {
        page.on("request", (request) => asked.push(request.method()));
      };
      const { page, axe } = await signedIn(site, VIEWER, { prepare });
      expect(await page.locator(".bar .badge").textContent()).toBe("Read only");
      await page.getByText("pausing needs the admin token").waitFor();
      for (const name of ["Dead letters", "Flow control", "Tiers", "Tenants", "Last changes"]) await part(page, name);
      await row(await part(page, "Tenants"), "demo-free")
        .getByRole("button", { name: "Open" })
        .click();
      await page.getByRole("dialog").getByText("demo").first().waitFor();
      await page.keyboard.press("Escape");
      const buttons = await page.getByRole("button").allTextContents();
      expect(buttons.filter((text) => !/^(Sign out|Dark colours|Open|Open demo-\w+|Show more)$/.test(text))).toEqual(
        [],
      );
      expect(await axe()).toEqual([]);
      expect(new Set(asked)).toEqual(new Set(["GET"]));
    });

    test("says that it cannot reach Headgate, keeps what it knew, and goes on by itself", async () => {
      const expected = [/^failed: GET .*\/admin\//, /^console: .*ERR_INTERNET_DISCONNECTED/];
      const { page, screenshot } = await signedIn(site, ADMIN, { expected });
      await expect.poll(() => figure(page, "Accepted")).toMatch(/^\d+\.\d\/s$/);
      const before = await figure(page, "Accepted");
      await page.context().setOffline(true);
      await page.getByText("This page cannot reach Headgate.").waitFor();
      expect(await figure(page, "Accepted")).toBe(before);
      await page.getByText(/Figures are \d+ s old/).waitFor();
      await screenshot("dashboard-offline");
      await page.context().setOffline(false);
      await page.getByText("Live, every second").waitFor();
      await expect.poll(() => word(page)).toBe("OK");
    });

    test("says that the engine does not answer, in the words of the answer", async () => {
      const expected = [/^answered 503: GET .*\/admin\/queue$/, /^console: .*503/];
      const { page } = await signedIn(site, ADMIN, { expected });
      await page.route("**/admin/queue", (route) =>
        route.fulfill({
          status: 503,
          headers: { "Retry-After": "5", "Content-Type": "application/problem+json" },
          body: JSON.stringify({ code: "queue_full", detail: "The command engine does not answer." }),
        }),
      );
      await page.getByText("The engine does not answer.", { exact: true }).waitFor();
      await page.getByText("“The command engine does not answer.”").waitFor();
      await page.unroute("**/admin/queue");
      await expect.poll(() => word(page), PATIENCE).toBe("OK");
    });

    test("signs out by itself when its token holds no more, and says so", async () => {
      const expected = [/^answered 401: GET .*\/admin\//, /^console: .*401/];
      const { page } = await signedIn(site, ADMIN, { expected });
      await page.route("**/admin/**", (route) => route.fulfill({ status: 401, body: "{}" }));
      await page.getByText("You were signed out").waitFor();
      expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    });

    test.each([
      ["light", 1440],
      ["light", 360],
      ["dark", 1440],
      ["dark", 360],
    ] as const)("has no serious fault in %s at %i px, and is not wider than the window", async (theme, width) => {
      const { page, axe, screenshot } = await site.open("/dashboard", { theme, width, reducedMotion: true });
      await page.getByLabel("Token").waitFor();
      expect(await axe()).toEqual([]);
      await screenshot(`dashboard-sign-in-${theme}-${width}`);
      await page.getByLabel("Token").fill(ADMIN);
      await page.keyboard.press("Enter");
      await page.getByText("Live, every second").waitFor();
      for (const name of ["Tiers", "Tenants", "Last changes"]) await part(page, name);
      await row(await part(page, "Tenants"), "demo-free").waitFor();
      expect(await axe()).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
      const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const before = await ground();
      await page.getByRole("button", { name: theme === "dark" ? "Light" : "Dark" }).click();
      expect(await ground()).not.toBe(before);
      expect(await axe()).toEqual([]);
    });
  },
  VARS,
);

describeInBrowser(
  "the dashboard of a deployment without a token",
  (site) => {
    test("says that there is nothing to sign in to, and how to change that", async () => {
      const expected = [/^answered 404: GET .*\/admin\/session$/, /^console: .*404/];
      const { page } = await site.open("/dashboard", { expected });
      await page.getByLabel("Token").fill("anything");
      await page.keyboard.press("Enter");
      await page.getByText("This deployment has no admin token").waitFor();
    });
  },
  ["ADMIN_TOKEN:"],
);
