import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parser } from "@prometheus-io/lezer-promql";
import { describe, expect, test } from "vitest";
import { emptyHistogram, PROCESSING_SECONDS, RETRY_AFTER_SECONDS } from "../../src/core/histogram.ts";
import type { EngineReport } from "../../src/core/queue-status.ts";
import { NO_USAGE } from "../../src/core/usage-minutes.ts";
import { writeMetrics } from "../../src/telemetry/exposition.ts";
import { allFamilies } from "../../src/telemetry/families.ts";
import { promtool, skipsPromtool } from "../support/node/promtool.ts";

// What ops/ asks for is what /metrics gives: each query is parsed by Prometheus's grammar, each name in it looked up in
// the metrics of a deployment that has something to say of everything.

const ops = (file: string) => readFile(fileURLToPath(new URL(`../../ops/${file}`, import.meta.url)), "utf8");

const report: EngineReport = {
  depth: 1,
  criticalDepth: 0,
  running: 0,
  retrying: 0,
  deferred: 0,
  inFlight: 1,
  bound: 10,
  depthPercent: 10,
  oldestWaitSeconds: 0.5,
  completedLastMinute: 1,
  pacePerSecond: 1.5,
  peakDepth: 1,
  paused: false,
  limit: { algorithm: "aimd", value: 200 },
  counters: { accepted: 2, completed: 1, failed: 0, dead: 0, cancelled: 0, expired: 0, refused: { queue_full: 1 } },
  operator: {
    accepting: true,
    retryAfterSeconds: null,
    limitFloor: 1,
    writeRatePerSecond: 100,
    storage: { bytes: 4096, bytesMax: 8 * 1024 ** 3 },
    deadLetters: 0,
    everDead: 0,
    measured: {
      processing: emptyHistogram(PROCESSING_SECONDS),
      retryAfter: emptyHistogram(RETRY_AFTER_SECONDS),
      limiterDegraded: 0,
      addresses: NO_USAGE,
    },
  },
};
const usage = {
  tiers: [{ tier: "gold", ...NO_USAGE }],
  top: [{ tenant: 'a\\"b\n', ...NO_USAGE }],
  other: NO_USAGE,
};
const text = writeMetrics(allFamilies({ engines: [report, report], usage }, true), "prometheus");
const given = new Set([...text.matchAll(/^(\w+)[{ ]/gm)].map(([, name = ""]) => name));

/** The metrics that a query names. @throws Error when it is not PromQL */
function namesIn(query: string): string[] {
  // What Grafana puts in before it asks.
  const asked = query.replaceAll("$__rate_interval", "1m").replace(/\$\w+/g, "x");
  const names: string[] = [];
  parser.parse(asked).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.isError) throw new Error(`not PromQL at ${from}: ${asked}`);
      if (type.name === "Identifier" && node.parent?.name === "VectorSelector") names.push(asked.slice(from, to));
    },
  });
  return names;
}

/** Prometheus gives it itself, for each target. */
const OF_PROMETHEUS = ["up"];

describe("every metric that is asked for is one that is given", () => {
  test("by the board", async () => {
    const board = JSON.parse(await ops("grafana.json"));
    const queries: string[] = board.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    );
    expect(queries.length).toBeGreaterThan(15);
    for (const query of queries) {
      const names = namesIn(query);
      expect(names.length, query).toBeGreaterThan(0);
      for (const name of names) expect(given, query).toContain(name);
    }
    for (const { query } of board.templating.list) {
      const named = /label_values\((\w+)/.exec(query.query ?? "")?.[1];
      if (named !== undefined) expect(given).toContain(named);
    }
  });

  test("by the alerts", async () => {
    const rules = await ops("alerts.yml");
    const queries = [...rules.matchAll(/expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/g)].map(
      ([, many, one]) => many ?? one ?? "",
    );
    expect(queries).toHaveLength(rules.split("- alert:").length - 1);
    const names = queries.flatMap(namesIn);
    expect(names.length).toBeGreaterThanOrEqual(queries.length);
    for (const name of names) expect([...given, ...OF_PROMETHEUS]).toContain(name);
  });

  test("and a name that is not given, or a query that is none, would be found", () => {
    expect(given).not.toContain(namesIn("rate(headgate_queue_dept[1m])")[0]);
    expect(() => namesIn("sum by (")).toThrow("not PromQL");
  });
});

/** What promtool says of the name that Zeebe chose, and of nothing else. */
const ZEEBE_NAME = [
  'zeebe_backpressure_inflight_requests_count non-histogram and non-summary metrics should not have "_count" suffix',
];

test.skipIf(skipsPromtool())(
  "promtool finds no fault in what is given, but for the one name that operators of Zeebe know",
  async () => {
    const { said } = await promtool(["check", "metrics"], text);
    expect(said.split("\n").filter((line) => line !== "")).toEqual(ZEEBE_NAME);
    const broken = await promtool(
      ["check", "metrics"],
      text.replace("# TYPE headgate_up gauge", "# TYPE headgate_up nothing"),
    );
    expect(broken.said).toContain("parsing error");
  },
);
