import { mkdir } from "node:fs/promises";
import path from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import { findChromium, NO_CHROMIUM, skipsBrowserTests } from "../support/node/chromium.ts";
import { type GatewayProcess, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";
import { seriousFaults } from "./axe.ts";
import { Problems } from "./problems.ts";

/**
 * Pages of the real Worker in the system's Chromium. Each test file has a gateway and a browser of its own, each test a
 * browser profile of its own. A test fails on whatever a page should never do (`problems.ts`), without asking.
 */

const FLAGS = [
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // Whatever a page asks of another host goes nowhere, also where this machine has a network.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];
/** Longer than any answer of a page on a machine that other tests share. */
const ACTION_MS_MAX = 15_000;
const HEIGHT = 900;

export interface TabOptions {
  readonly theme?: "light" | "dark";
  /** Of the window, in pixels; 1440 unless said. */
  readonly width?: number;
  readonly reducedMotion?: boolean;
  /** Sets something up before the page is loaded: what a request is answered with, say. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Problems that this test makes on purpose, such as a 401. Each must come. */
  readonly expected?: readonly RegExp[];
}

/** One page in a profile of its own, closed and judged when its test ends. */
export interface Tab {
  readonly page: Page;
  /** What is wrong so far; at the end of the test it must be empty. */
  problems(): readonly string[];
  /** @returns serious and critical faults that axe-core finds in what is shown now, one line each */
  axe(): Promise<readonly string[]>;
  /** Writes `<name>.png` of the whole page into the folder that `SCREENSHOTS` names; without it nothing. */
  screenshot(name: string): Promise<void>;
}

export interface Site {
  /** Origin of the gateway, without a slash at its end. */
  url(): string;
  /** Opens a path of the gateway and waits until it is loaded. To be called within a test. */
  open(path: string, options?: TabOptions): Promise<Tab>;
}

/**
 * A group of tests with pages. Skipped where there is no Chromium; in CI that is a failure.
 *
 * @param vars variables of the gateway, `NAME:value` each
 */
export function describeInBrowser(name: string, tests: (site: Site) => void, vars: readonly string[] = []): void {
  describe.skipIf(skipsBrowserTests())(name, () => tests(siteOf(vars)));
}

function siteOf(vars: readonly string[]): Site {
  let running: { readonly gateway: GatewayProcess; readonly browser: Browser } | undefined;
  const undo: (() => Promise<void>)[] = [];
  const started = () => {
    if (running === undefined) throw new Error("pages are opened within tests");
    return running;
  };

  beforeAll(async () => {
    const executablePath = findChromium();
    if (executablePath === null) throw new Error(NO_CHROMIUM);
    const state = await temporaryFolder();
    undo.push(state.remove);
    const gateway = await startGatewayProcess(state.folder, vars);
    undo.push(gateway.kill);
    // In a process group of its own, which is ended as one.
    const browser = await chromium.launch({ executablePath, args: FLAGS });
    undo.push(() => browser.close());
    running = { gateway, browser };
  });
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  });

  return {
    url: () => started().gateway.url,
    open: (at, options = {}) => openTab(started().browser, started().gateway.url, at, options),
  };
}

async function openTab(browser: Browser, origin: string, at: string, options: TabOptions): Promise<Tab> {
  const { theme = "light", width = 1440, reducedMotion = false, expected = [], prepare } = options;
  const context = await browser.newContext({
    colorScheme: theme,
    reducedMotion: reducedMotion ? "reduce" : "no-preference",
    viewport: { width, height: HEIGHT },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const problems = new Problems(context, origin, expected);
  onTestFinished(async () => {
    await context.close();
    expect(problems.left(), "what a page should never do").toEqual([]);
  });
  const page = await context.newPage();
  page.setDefaultTimeout(ACTION_MS_MAX);
  await prepare?.(page);
  await page.goto(origin + at);
  return {
    page,
    problems: () => problems.seen(),
    axe: () => seriousFaults(page),
    screenshot: (name) => screenshot(page, name),
  };
}

async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS ?? "";
  if (folder === "") return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}
