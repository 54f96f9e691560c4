import type { Locator, Page } from "playwright-core";
import { post } from "../support/node/client.ts";
import type { Site, Tab, TabOptions } from "./harness.ts";

/** The dashboard as an operator uses it, and the load that it shows. */

export const ADMIN = "dev-admin";
export const VIEWER = "test-viewer-token";

/** Opens the dashboard and signs in by hand. */
export async function signedIn(site: Site, token: string, options: TabOptions = {}): Promise<Tab> {
  const tab = await site.open("/dashboard", options);
  await tab.page.getByLabel("Token").fill(token);
  await tab.page.getByRole("button", { name: "Sign in" }).click();
  await tab.page.getByRole("heading", { name: "Refused, by reason" }).waitFor();
  return tab;
}

/** A part of the page, by its heading; what is further down is there once it was scrolled to. */
export async function part(page: Page, name: string): Promise<Locator> {
  const heading = page.getByRole("heading", { name, exact: true });
  const free = page.locator(".kept-free");
  if ((await heading.count()) === 0 && (await free.count()) > 0) await free.scrollIntoViewIfNeeded();
  await heading.waitFor();
  return page.locator("section.card").filter({ has: heading });
}

/** The state in a word: OK, Refusing, … */
export const word = (page: Page) => page.locator(".banner .badge").textContent();

/** A figure's value, by its name. */
export const figure = (page: Page, name: string) =>
  page
    .locator(".figure", { has: page.locator("dt", { hasText: name }) })
    .locator(".figure-value")
    .textContent();

/** The cells of a row, by the text of its heading. */
export const row = (within: Locator, heading: string) =>
  within.getByRole("row").filter({ has: within.page().getByRole("rowheader", { name: heading, exact: true }) });

/** Deploys the process that {@link flood} starts instances of. */
export async function deploy(url: string, key: string): Promise<void> {
  const intent = { intent: "DEPLOYMENT:CREATE", payload: { processId: "p", tasks: [{ type: "t" }] } };
  const { status } = await post(url, "/v1/commands", key, intent);
  if (status !== 200) throw new Error(`the process was not deployed: ${status}`);
}

/** Sends so many commands at once. @returns how many were answered with what */
export async function flood(url: string, key: string, count: number): Promise<{ accepted: number; refused: number }> {
  const statuses = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const body = JSON.stringify({ intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p", variables: { n } } });
      const response = await fetch(`${url}/v1/commands`, {
        method: "POST",
        headers: { Authorization: `Bearer ${key}` },
        body,
      });
      await response.text();
      return response.status;
    }),
  );
  const accepted = statuses.filter((status) => status === 202).length;
  return { accepted, refused: statuses.filter((status) => status === 503).length };
}
