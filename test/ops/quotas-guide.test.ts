import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TENANT_QUOTAS } from "../../src/core/tenant-quotas.ts";

test("each quota is in the guide to storage, with what happens when it is used up", () => {
  const guide = readFileSync(new URL("../../docs/storage.md", import.meta.url), "utf8");
  for (const { name, usedUp } of Object.values(TENANT_QUOTAS)) {
    expect(guide).toContain(`\`${name}\``);
    expect(guide).toContain(usedUp);
  }
});
