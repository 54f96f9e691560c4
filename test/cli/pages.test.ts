import { expect, test } from "vitest";
import { withPagesBeside } from "../../src/cli/pages.ts";

test("the files of the pages are beside the gateway, bound to it, so that no request passes them on its way", () => {
  const { gateway, pages } = withPagesBeside({
    name: "headgate",
    serviceBindings: { OTHER: "other" },
    assets: { directory: "/pages", binding: "ASSETS", assetConfig: { html_handling: "drop-trailing-slash" } },
  });
  expect(gateway.assets).toBeUndefined();
  expect(gateway.serviceBindings).toEqual({ OTHER: "other", ASSETS: pages.name });
  expect(pages.assets).toMatchObject({ directory: "/pages", assetConfig: { html_handling: "drop-trailing-slash" } });
});

test("a deployment that binds no files is told so", () => {
  expect(() => withPagesBeside({ name: "headgate" })).toThrow("binds no [assets]");
});
