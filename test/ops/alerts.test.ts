import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { promtool, skipsPromtool } from "../support/node/promtool.ts";

const OPS = fileURLToPath(new URL("../../ops/", import.meta.url));
const rules = await readFile(path.join(OPS, "alerts.yml"), "utf8");
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);

describe.skipIf(skipsPromtool())("by promtool", () => {
  test("the alert rules are valid, and fire when their tests say and not else", async () => {
    expect(await promtool(["check", "rules", path.join(OPS, "alerts.yml")])).toMatchObject({ code: 0 });
    expect(await promtool(["test", "rules", path.join(OPS, "alerts.test.yml")])).toMatchObject({ code: 0 });
  });

  test.each([
    ["never fires", "vector(0) > 1"],
    ["always fires", "vector(1)"],
  ])("a rule that %s fails its tests, each of them", async (_what, expr) => {
    const folder = await mkdtemp(path.join(tmpdir(), "headgate-ops-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await cp(path.join(OPS, "alerts.test.yml"), path.join(folder, "alerts.test.yml"));
    const broken = rules.replace(/( +expr: )(?:>-\n(?: {10}.*\n)+|.*\n)/g, `$1${expr}\n`);
    await writeFile(path.join(folder, "alerts.yml"), broken);
    expect(await promtool(["check", "rules", path.join(folder, "alerts.yml")])).toMatchObject({ code: 0 });
    const { code, said } = await promtool(["test", "rules", path.join(folder, "alerts.test.yml")]);
    expect(code).not.toBe(0);
    expect(alerts.filter((alert) => !said.includes(`alertname: ${alert},`))).toEqual([]);
  });

  test("the example of a scrape is a configuration of Prometheus", async () => {
    const file = path.join(OPS, "prometheus.yml");
    expect(await promtool(["check", "config", "--syntax-only", file])).toMatchObject({ code: 0 });
  });
});
