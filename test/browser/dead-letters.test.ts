import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { post } from "../support/node/client.ts";
import { ADMIN, figure, part, signedIn, word } from "./dashboard-support.ts";
import { describeInBrowser } from "./harness.ts";

// Dead letters on the dashboard, in front of a backend that fails until it is mended.

const PORT = 18_431;
const KEY = "hg_dev_premium";

describeInBrowser(
  "the dashboard in front of a backend",
  (site) => {
    let backend: Server;
    let isBroken = true;
    const delivered: string[] = [];
    beforeAll(async () => {
      backend = createServer((request, response) => {
        request.resume().on("end", () => {
          delivered.push(String(request.headers["idempotency-key"]));
          response.writeHead(isBroken ? 500 : 200, { "Content-Type": "application/json" });
          response.end(isBroken ? '{"error":"out of order"}' : '{"ok":true}');
        });
      });
      await new Promise<void>((resolve) => backend.listen(PORT, "127.0.0.1", resolve));
    });
    afterAll(() => new Promise((resolve) => backend.close(resolve)));

    const send = async (n: number) =>
      (await post(site.url(), "/v1/commands", KEY, { intent: "ORDER:PLACE", payload: { n } })).body.commandId;
    const state = async (id: string) =>
      (await post(site.url(), `/v1/commands/${id}`, KEY, undefined, "GET")).body.state;

    test("shows what could not be run, sends it again when the backend is mended, and drops what nobody wants", async () => {
      const [first, second] = [await send(1), await send(2)];
      const { page, axe, screenshot } = await signedIn(site, ADMIN);
      const letters = await part(page, "Dead letters");
      const rows = letters.getByRole("row").filter({ hasText: "ORDER:PLACE" });
      await expect.poll(() => rows.count()).toBe(2);
      expect(await figure(page, "Dead letters")).toBe("2");
      await letters.getByRole("button", { name: `Look at ${first}` }).click();
      await page.getByRole("dialog").getByText('"n": 1').waitFor();
      await page.keyboard.press("Escape");
      expect(await axe()).toEqual([]);
      await screenshot("dashboard-dead-letters");

      isBroken = false;
      await letters.getByRole("button", { name: `Send again ${first}` }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Send again" }).click();
      await expect.poll(() => state(first)).toBe("succeeded");
      await expect.poll(() => rows.count()).toBe(1);
      // The same id as before: a backend that did it after all could tell.
      expect(delivered.filter((id) => id === first)).toHaveLength(2);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("dead-letters");

      await letters.getByRole("button", { name: `Drop ${second}` }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();
      await letters.getByText("None. Nothing needs to be done.").waitFor();
      expect(await state(second)).toBe("dead");
      await expect.poll(() => word(page)).toBe("OK");
    });
  },
  [
    `UPSTREAM_URL:http://127.0.0.1:${PORT}/api`,
    "MAX_ATTEMPTS:1",
    "UPSTREAM_BREAKER_FAILURES:100",
    'UPSTREAM_ROUTES:{"ORDER:PLACE":{"path":"/orders"}}',
  ],
);
