import parse from "parse-prometheus-text-format";

/** Metrics as a scraper reads them, by a parser that is not ours. */

export interface Scraped {
  /** Names of families, in their order, with their types. */
  readonly families: ReadonlyMap<string, string>;
  /** A sample's value by name and labels; undefined when it is not there. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** Each value that a label takes in a family. */
  labels(name: string, label: string): string[];
}

/** Reads Prometheus text 0.0.4. */
export function scraped(text: string): Scraped {
  // It knows histograms without labels only, so theirs are read as plain samples: `_bucket`, `_sum` and `_count`.
  const families = parse(text.replace(/^# TYPE \w+ histogram\n/gm, ""));
  const metricsOf = (name: string) => families.find((family) => family.name === name)?.metrics ?? [];
  return {
    families: new Map(families.map(({ name, type }) => [name, type])),
    value(name, labels = {}) {
      const found = metricsOf(name).filter((metric) =>
        Object.entries(labels).every(([label, value]) => metric.labels?.[label] === value),
      );
      if (found.length > 1) throw new Error(`${name} has ${found.length} samples with ${JSON.stringify(labels)}`);
      const [metric] = found;
      return metric === undefined ? undefined : Number(metric.value);
    },
    labels: (name, label) => metricsOf(name).map((metric) => metric.labels?.[label] ?? ""),
  };
}
