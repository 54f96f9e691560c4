import { describe, expect, test } from "vitest";
import { CONTENT_TYPES, type Family, writeMetrics } from "../../src/telemetry/exposition.ts";
import { scraped } from "../support/prometheus.ts";

const FAMILIES: readonly Family[] = [
  { type: "gauge", name: "depth", help: 'A "depth"\\of\nlines.', samples: [{ labels: {}, value: 0.25 }] },
  {
    type: "counter",
    name: "refused",
    help: "By code.",
    samples: [
      { labels: { tenant: 'a"b\\c\nd', code: "x" }, value: 3 },
      { labels: { tenant: "naïve 💥", code: "x" }, value: 1e21 },
    ],
  },
  { type: "counter", name: "none", help: "Left out.", samples: [] },
  {
    type: "histogram",
    name: "took_seconds",
    help: "Time.",
    bounds: [0.5, 1],
    samples: [{ labels: { partition: "1" }, counts: [2, 0, 3], sum: 7.5 }],
  },
];

describe("both formats", () => {
  test("are what their specifications say, to the letter", () => {
    const samples = [
      'refused_total{tenant="a\\"b\\\\c\\nd",code="x"} 3',
      'refused_total{tenant="naïve 💥",code="x"} 1e+21',
    ];
    const histogram = [
      "# HELP took_seconds Time.",
      "# TYPE took_seconds histogram",
      'took_seconds_bucket{partition="1",le="0.5"} 2',
      'took_seconds_bucket{partition="1",le="1.0"} 2',
      'took_seconds_bucket{partition="1",le="+Inf"} 5',
      'took_seconds_sum{partition="1"} 7.5',
      'took_seconds_count{partition="1"} 5',
    ];
    const prometheus = [
      '# HELP depth A "depth"\\\\of\\nlines.',
      "# TYPE depth gauge",
      "depth 0.25",
      "# HELP refused_total By code.",
      "# TYPE refused_total counter",
      ...samples,
      ...histogram,
    ];
    const openmetrics = [
      '# HELP depth A \\"depth\\"\\\\of\\nlines.',
      "# TYPE depth gauge",
      "depth 0.25",
      "# HELP refused By code.",
      "# TYPE refused counter",
      ...samples,
      ...histogram,
      "# EOF",
    ];
    expect(writeMetrics(FAMILIES, "prometheus").split("\n")).toEqual([...prometheus, ""]);
    expect(writeMetrics(FAMILIES, "openmetrics").split("\n")).toEqual([...openmetrics, ""]);
    expect(CONTENT_TYPES).toEqual({
      prometheus: "text/plain; version=0.0.4; charset=utf-8",
      openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
    });
  });

  test("give a parser back what was written, whatever a label holds", () => {
    const seen = scraped(writeMetrics(FAMILIES, "prometheus"));
    expect(seen.value("refused_total", { tenant: 'a"b\\c\nd' })).toBe(3);
    expect(seen.value("refused_total", { tenant: "naïve 💥" })).toBe(1e21);
    expect(seen.value("depth")).toBe(0.25);
    expect(seen.value("took_seconds_bucket", { le: "+Inf" })).toBe(5);
    expect(seen.families.has("none_total")).toBe(false);
  });
});
