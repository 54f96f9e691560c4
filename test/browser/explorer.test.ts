import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { simulate } from "../../src/cli/simulate-run.ts";
import { describeInBrowser, type Site, type TabOptions } from "./harness.ts";

// The explorer as it is used: controls are moved and the readout is read.

const RESULT = ".x-result";

/** Opens the explorer and waits for its first numbers. */
async function explore(site: Site, query = "", options: TabOptions = {}) {
  const tab = await site.open(`/explorer${query}`, options);
  await tab.page.waitForSelector(`${RESULT}[data-shown]`);
  return tab;
}

/** Waits until what is shown is of these settings. */
const shows = (page: Page, query: string) =>
  page.waitForSelector(`${RESULT}[data-shown="${query}"][aria-busy="false"]`);

/** The readout by the names of its rows; the first number column, or the one that it is held against. */
async function readout(page: Page, column: 1 | 2 = 1): Promise<Record<string, string>> {
  const rows = await page.locator(".x-readout tbody tr").all();
  const cells = await Promise.all(rows.map((row) => row.locator("th, td").allTextContents()));
  return Object.fromEntries(cells.map((row) => [row[0] ?? "", (row[column] ?? "").replaceAll("\u00a0", " ")]));
}

const textOf = async (page: Page, selector: string) =>
  ((await page.locator(selector).textContent()) ?? "").replaceAll("\u00a0", " ");

interface Controls {
  readonly rate: number;
  readonly workers: number;
  readonly bound: number | null;
  readonly quota: boolean;
}

/** Moves every control, whatever it stands at. */
async function set(page: Page, { rate, workers, bound, quota }: Controls): Promise<void> {
  await page.getByLabel("Jobs that arrive").fill(`${rate}`);
  await page.getByLabel("Workers", { exact: true }).fill(`${workers}`);
  await page.getByLabel("The queue has a bound").setChecked(bound !== null);
  if (bound !== null) await page.getByLabel("Jobs that may wait, as a number").fill(`${bound}`);
  await page.getByLabel("The backend has a quota").setChecked(quota);
  await shows(page, `rate=${rate}&workers=${workers}&bound=${bound ?? "none"}&quota=${quota ? "on" : "off"}`);
}

const isFrom = (low: number, high: number) => (text: string) => {
  const value = Number(/^([\d.]+) s$/.exec(text)?.[1]);
  return value >= low && value <= high;
};

describeInBrowser("the explorer", (site) => {
  test("gives the numbers of the burst, whatever its controls are moved to", async () => {
    const { page } = await explore(site, "?rate=3&workers=1&bound=7&quota=off");
    type Row = [Controls, string[], ((text: string) => boolean) | null, ((text: string) => boolean) | null, string];
    const rows: Row[] = [
      [
        { rate: 10, workers: 2, bound: null, quota: true },
        ["300", "0", "226"],
        isFrom(22.5, 22.6),
        isFrom(298, 302),
        "–",
      ],
      [
        { rate: 10, workers: 2, bound: 100, quota: true },
        ["174", "126", "100"],
        isFrom(22.5, 22.6),
        isFrom(147, 151),
        "83 to 108 s",
      ],
      [
        { rate: 10, workers: 4, bound: 100, quota: true },
        ["174", "126", "100"],
        isFrom(22.5, 22.6),
        isFrom(147, 151),
        "83 to 99 s",
      ],
      [
        { rate: 10, workers: 2, bound: null, quota: false },
        ["300", "0", "188"],
        isFrom(18.8, 18.8),
        isFrom(81, 83),
        "–",
      ],
      [{ rate: 10, workers: 4, bound: null, quota: false }, ["300", "0", "78"], isFrom(7.7, 7.7), isFrom(40, 42), "–"],
      [{ rate: 2, workers: 1, bound: null, quota: false }, ["60", "0", "6"], null, null, "–"],
    ];
    for (const [controls, exact, oldest, empty, told] of rows) {
      await set(page, controls);
      const shown = await readout(page);
      expect([shown.Accepted, shown["Refused at once"], shown["Longest queue"]]).toEqual(exact);
      if (oldest !== null) expect(shown["Oldest wait when sending stops"]).toSatisfy(oldest);
      if (empty !== null) expect(shown["Queue empty at"]).toSatisfy(empty);
      expect(shown["Retry-After told"]).toBe(told);
    }
  });

  test("shows beside a bounded burst what it is without the bound", async () => {
    const { page } = await explore(site);
    const other = await readout(page, 2);
    expect([other.Accepted, other["Refused at once"], other["Longest queue"]]).toEqual(["300", "0", "226"]);
    expect(await textOf(page, ".x-headline")).toBe(
      "126 of 300 jobs are refused at once, and no accepted job waits longer than 120 s. Without the bound it is 270.2 s.",
    );
  });

  test("counts the small burst by hand, in all three ways", async () => {
    const { page } = await explore(site);
    await page.getByText("A small burst, counted by hand").click();
    const rows = await page.locator("#by-hand tbody tr").all();
    const numbers = await Promise.all(
      rows.map(async (row) => (await row.locator("th, td").allTextContents()).map(Number)),
    );
    expect(numbers).toEqual([
      [1, 4, 2, 2, 0, 2, 0],
      [2, 4, 4, 2, 2, 2, 2],
      [3, 4, 6, 2, 4, 2, 4],
      [4, 4, 8, 2, 6, 2, 6],
      [5, 4, 10, 2, 8, 2, 8],
      [6, 4, 12, 2, 10, 2, 10],
      [7, 0, 10, 2, 8, 0, 10],
      [8, 0, 8, 2, 6, 0, 10],
      [9, 0, 6, 2, 4, 0, 10],
      [10, 0, 4, 2, 2, 0, 10],
    ]);
    const totals = await page.locator("#by-hand-totals tbody tr").allInnerTexts();
    expect(totals.map((row) => row.split(/\s*\t\s*/))).toEqual([
      ["no control", "20", "12", "0", "4", "0"],
      ["backpressure", "20", "2", "0", "2", "2"],
      ["load shedding", "14", "2", "10", "0", "0"],
    ]);
  });

  test("shows the three ways to meet the burst that is set", async () => {
    const { page } = await explore(site);
    const totals = async () => {
      const ways = await page.locator(".x-three figure").all();
      return Promise.all(ways.map((way) => way.locator("dd").allTextContents()));
    };
    expect((await totals()).map((row) => row.slice(0, 4))).toEqual([
      ["300 of 300", "226", "0", "0"],
      ["300 of 300", "100", "126", "0"],
      ["174 of 300", "100", "0", "126"],
    ]);
    await page.getByLabel("Jobs that may wait, as a number").fill("20");
    await shows(page, "rate=10&workers=2&bound=20&quota=on");
    expect((await totals()).map((row) => row[1])).toEqual(["226", "20", "20"]);
  });

  test("keeps its setting in the address, and a copied link shows the same", async () => {
    const { page } = await explore(site);
    await set(page, { rate: 7, workers: 3, bound: 42, quota: false });
    await page.getByLabel("Jobs that may wait, as a number").blur();
    const query = "rate=7&workers=3&bound=42&quota=off";
    expect(new URL(page.url()).search).toBe(`?${query}`);
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Copied.").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(`${site.url()}/explorer?${query}`);

    const { page: theirs } = await explore(site, new URL(link).search);
    await shows(theirs, query);
    expect(await readout(theirs)).toEqual(await readout(page));
    expect(await theirs.getByLabel("Jobs that arrive").inputValue()).toBe("7");
    expect(await theirs.getByLabel("The backend has a quota").isChecked()).toBe(false);
  });

  test("goes back to what was before a control was touched, and forward again", async () => {
    const { page } = await explore(site);
    const arrive = page.getByLabel("Jobs that arrive");
    await arrive.fill("5");
    await arrive.fill("6");
    await page.getByLabel("The backend has a quota").uncheck();
    await shows(page, "rate=6&workers=2&bound=100&quota=off");
    await page.goBack();
    await shows(page, "rate=6&workers=2&bound=100&quota=on");
    expect(await page.getByLabel("The backend has a quota").isChecked()).toBe(true);
    await page.goBack();
    await shows(page, "rate=10&workers=2&bound=100&quota=on");
    expect(await arrive.inputValue()).toBe("10");
    await page.goForward();
    await page.goForward();
    await shows(page, "rate=6&workers=2&bound=100&quota=off");
  });

  test("mends an address that cannot be meant, and says so until something is changed", async () => {
    const { page } = await explore(site, "?rate=99&workers=x&bound=100&quota=maybe");
    const notice = page.getByText("The address was not quite a setting:");
    await notice.waitFor();
    await page.getByText("rate takes a whole number from 2 to 12, not “99”: 12 is shown.").waitFor();
    expect(await page.locator(".notice li").count()).toBe(3);
    expect(new URL(page.url()).search).toBe("?rate=12&workers=2&bound=100&quota=on");
    await page.getByLabel("Workers", { exact: true }).fill("3");
    await notice.waitFor({ state: "detached" });
  });

  test("takes any bound of its own, and no nonsense", async () => {
    const { page } = await explore(site);
    const bound = page.getByLabel("Jobs that may wait, as a number");
    await bound.fill("37");
    await shows(page, "rate=10&workers=2&bound=37&quota=on");
    expect((await readout(page))["Longest queue"]).toBe("37");
    await bound.fill("0");
    await page.getByText("A whole number from 1 to 360. Shown is 37.").waitFor();
    expect(await bound.getAttribute("aria-invalid")).toBe("true");
    await bound.blur();
    expect(await bound.inputValue()).toBe("37");
    await page.getByLabel("Jobs that may wait", { exact: true }).fill("250");
    await shows(page, "rate=10&workers=2&bound=250&quota=on");
    expect(await bound.inputValue()).toBe("250");
  });

  test("says in words what happens, politely, and other words when it changes", async () => {
    const { page } = await explore(site);
    const live = page.locator(".x-words [aria-live=polite]");
    expect(await live.count()).toBe(1);
    const words = ".x-words";
    expect(await textOf(page, words)).toContain(
      "Who comes while it is full, 126 of the jobs, is refused at once and told when to come back: in 83 to 108 s",
    );
    await page.getByLabel("The queue has a bound").uncheck();
    await shows(page, "rate=10&workers=2&bound=none&quota=on");
    expect(await textOf(page, words)).toContain("Nobody is refused, so the queue grows to 226.");
    await page.getByRole("button", { name: "Workers that keep up" }).click();
    await shows(page, "rate=2&workers=2&bound=100&quota=off");
    expect(await textOf(page, words)).toContain("Each job finds a free place at once");
  });

  test("the command that it shows gives the numbers that it shows", async () => {
    const { page } = await explore(site, "?rate=9&workers=3&bound=60&quota=on");
    const command = await page.getByLabel("The command that gives the same numbers").inputValue();
    const { text } = simulate([...command.replace("npm run simulate -- ", "").split(" "), "--json"]);
    const report = JSON.parse(text);
    const shown = await readout(page);
    expect(shown.Accepted).toBe(`${report.accepted}`);
    expect(shown["Refused at once"]).toBe(`${report.refused}`);
    expect(shown["Longest queue"]).toBe(`${report.peakDepth}`);
    expect(shown["Retry-After told"]).toBe(`${report.retryAfter.min} to ${report.retryAfter.max} s`);
    expect(Number.parseFloat(shown["Queue empty at"] ?? "")).toBeCloseTo(report.emptyAtSeconds, 0);
  });

  test("is moved by the keyboard alone", async () => {
    const { page } = await explore(site);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate(() => document.activeElement?.id ?? "");
    await page.locator("#main").focus();
    await press("Tab");
    expect(await focused()).toBe("rate");
    await press("Home", "ArrowRight", "Tab");
    expect(await focused()).toBe("workers");
    await press("End", "Tab");
    expect(await focused()).toBe("bounded");
    await press("Tab", "Tab");
    expect(await focused()).toBe("bound-number");
    await press("ControlOrMeta+a", "5", "Tab");
    expect(await focused()).toBe("quota");
    await press("Space");
    await shows(page, "rate=3&workers=4&bound=5&quota=off");
    expect(new URL(page.url()).search).toBe("?rate=3&workers=4&bound=5&quota=off");
  });

  test("draws its charts, again in the other colours, and reads out the second that is pointed at", async () => {
    const { page } = await explore(site);
    const plots = page.locator(".plot canvas");
    expect(await plots.count()).toBe(5);
    const painted = () =>
      plots.evaluateAll((all) => all.map((canvas) => (canvas instanceof HTMLCanvasElement ? canvas.toDataURL() : "")));
    const light = await painted();
    expect(new Set(light).size).toBe(5);
    await page.getByRole("button", { name: "Dark" }).click();
    await expect.poll(async () => (await painted()).every((now, n) => now !== light[n])).toBe(true);

    await page.locator(".x-pair .plot").first().hover();
    await expect.poll(() => textOf(page, ".x-point")).toMatch(/^At \d+ s\. With a bound of 100: \d+ waiting/);
  });

  test("shows the whole course on request, and keeps that in the address", async () => {
    const { page } = await explore(site);
    await page.getByText("Alike up to 120").waitFor();
    await page.getByLabel("All of it").check();
    await page.getByText("Alike up to 120").waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("?rate=10&workers=2&bound=100&quota=on&view=whole");
    await page.reload();
    expect(await page.getByLabel("All of it").isChecked()).toBe(true);
  });

  test("answers each movement of a control promptly", async () => {
    const { page } = await explore(site);
    const took: number[] = [];
    for (const rate of [2, 5, 12, 9, 4, 11, 8]) {
      const ms = await page.evaluate(movedTo, rate);
      took.push(Math.round(ms));
    }
    console.log(`the explorer answered a movement within ${took.join(", ")} ms`);
    expect(Math.max(...took)).toBeLessThan(3_000);
  });

  test("says when its simulator cannot be loaded, and tries again", async () => {
    let isBlocked = true;
    const prepare = (page: Page) =>
      page.route("**/run.worker*", (route) => (isBlocked ? route.abort("connectionfailed") : route.continue()));
    const { page, screenshot } = await site.open("/explorer", { prepare });
    await page.getByText("The simulation failed: the simulator could not be loaded.").waitFor();
    await screenshot("explorer-failed");
    isBlocked = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await shows(page, "rate=10&workers=2&bound=100&quota=on");
    expect(await page.getByText("The simulation failed").count()).toBe(0);
  });

  test.each([
    ["light", 1440],
    ["light", 360],
    ["dark", 1440],
    ["dark", 360],
  ] as const)(
    "has no serious fault in %s at %i px, is not wider than the window, and nothing moves",
    async (theme, width) => {
      const { page, axe, screenshot } = await explore(site, "", { theme, width, reducedMotion: true });
      await screenshot(`explorer-${theme}-${width}`);
      for (const summary of await page.locator("summary").all()) await summary.click();
      expect(await axe()).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      await page.getByLabel("Jobs that arrive").fill("12");
      expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
      await shows(page, "rate=12&workers=2&bound=100&quota=on");
    },
  );
});

/** In the page: moves the rate, and waits until the readout is of it. @returns milliseconds */
function movedTo(rate: number): Promise<number> {
  const input = document.querySelector<HTMLInputElement>("#rate");
  const result = document.querySelector(".x-result");
  if (input === null || result === null) throw new Error("this is not the explorer");
  return new Promise((resolve) => {
    const began = performance.now();
    const watch = new MutationObserver(() => {
      if (!result.getAttribute("data-shown")?.startsWith(`rate=${rate}&`)) return;
      watch.disconnect();
      resolve(performance.now() - began);
    });
    watch.observe(result, { attributes: true });
    input.value = `${rate}`;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
