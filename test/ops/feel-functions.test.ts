import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FUNCTIONS } from "../../src/executor/embedded/feel/functions/index.ts";

test("the documentation lists the FEEL functions that are taken, and no others", () => {
  const text = readFileSync(new URL("../../docs/camunda.md", import.meta.url), "utf8");
  const section = text.slice(text.indexOf("### FEEL functions"), text.indexOf("## Credentials"));
  const listed = [...section.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  expect(listed.toSorted()).toEqual([...FUNCTIONS.keys()].toSorted());
});
