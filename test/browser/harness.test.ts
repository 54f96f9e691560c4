import { expect, test } from "vitest";
import { findChromium, skipsBrowserTests } from "../support/node/chromium.ts";
import { describeInBrowser } from "./harness.ts";

// What the harness of the browser tests itself promises: that what a page should never do is seen.

describeInBrowser("a page that misbehaves is seen", (site) => {
  test("an error on the console, and one that is thrown", async () => {
    const { page, problems } = await site.open("/healthz", {
      expected: [/^console: broken$/, /^thrown: out of order$/],
    });
    await page.evaluate(() => console.error("broken"));
    await page.evaluate(() => setTimeout(() => Promise.reject(new Error("out of order")), 0));
    await expect.poll(() => problems()).toHaveLength(2);
  });

  test("a request to another host, which goes nowhere", async () => {
    const expected = [/^another host: http:\/\/elsewhere\.test\/x$/, /^failed: GET .*NAME_NOT_RESOLVED/, /^console: /];
    const { page } = await site.open("/healthz", { expected });
    const outcome = await page.evaluate(() =>
      fetch("http://elsewhere.test/x", { mode: "no-cors" }).then(
        () => "answered",
        () => "failed",
      ),
    );
    expect(outcome).toBe("failed");
  });

  test("a request of its own that is answered with an error", async () => {
    const expected = [/^answered 401: GET .*\/v1\/limits$/, /^console: .*401/];
    const { page } = await site.open("/healthz", { expected });
    expect(await page.evaluate(() => fetch("/v1/limits").then(({ status }) => status))).toBe(401);
  });

  test("a serious fault of its markup", async () => {
    const { page, axe } = await site.open("/healthz");
    await page.evaluate(() => {
      document.body.innerHTML = "<button></button>";
    });
    expect((await axe()).map((line) => line.split(":")[0])).toContain("button-name");
  });
});

test("where there is no Chromium the browser tests are left out, but never in CI", () => {
  const nowhere = () => false;
  expect(skipsBrowserTests({}, nowhere)).toBe(true);
  expect(skipsBrowserTests({ CI: "true" }, nowhere)).toBe(false);
  expect(skipsBrowserTests({}, () => true)).toBe(false);
});

test("Chromium is the one that is named, else one of the usual places, else none", () => {
  const at =
    (...files: string[]) =>
    (file: string) =>
      files.includes(file);
  expect(findChromium({ CHROMIUM_PATH: "/opt/c" }, at("/opt/c", "/usr/bin/chromium"))).toBe("/opt/c");
  expect(findChromium({}, at("/usr/bin/google-chrome"))).toBe("/usr/bin/google-chrome");
  expect(findChromium({}, at())).toBeNull();
  expect(() => findChromium({ CHROMIUM_PATH: "/opt/c" }, at())).toThrow("CHROMIUM_PATH");
});
