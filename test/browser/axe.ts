import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe-core says of a page. It is put in through the debugger, which a content security policy does not stop. */

interface Found {
  readonly id: string;
  readonly impact?: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string | undefined }[];
}

/** @returns serious and critical faults, one line each with the first element that has it */
export async function seriousFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const violations: readonly Found[] = await page.evaluate("axe.run(document).then(({ violations }) => violations)");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => {
      const [first] = nodes;
      return `${id}: ${help} (${nodes.length}): ${first?.html} ${first?.failureSummary?.replaceAll(/\s+/g, " ")}`;
    });
}
