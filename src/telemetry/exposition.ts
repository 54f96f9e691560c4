/**
 * Metrics as text, in the two formats that scrapers ask for: Prometheus text 0.0.4 and OpenMetrics 1.0. They differ in what a
 * counter's family is called, in how HELP is escaped, and in the last line.
 */

export type Format = "prometheus" | "openmetrics";

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

export type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

interface Distribution {
  readonly labels: Labels;
  /** Values per bucket, each on its own; one more than there are bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** A counter's name is without `_total`, which its samples have. */
export type Family = { readonly name: string; readonly help: string } & (
  | { readonly type: "gauge" | "counter"; readonly samples: readonly Sample[] }
  | { readonly type: "histogram"; readonly bounds: readonly number[]; readonly samples: readonly Distribution[] }
);

/** All families as one text. One without samples is left out. */
export function writeMetrics(families: readonly Family[], format: Format): string {
  const lines = families.filter(({ samples }) => samples.length > 0).flatMap((family) => linesOf(family, format));
  if (format === "openmetrics") lines.push("# EOF");
  return `${lines.join("\n")}\n`;
}

function linesOf(family: Family, format: Format): string[] {
  const { name, help, type } = family;
  const named = type === "counter" && format === "prometheus" ? `${name}_total` : name;
  return [`# HELP ${named} ${escapeHelp(help, format)}`, `# TYPE ${named} ${type}`, ...samplesOf(family)];
}

function samplesOf(family: Family): string[] {
  const { name } = family;
  switch (family.type) {
    case "gauge":
      return family.samples.map(({ labels, value }) => sample(name, labels, value));
    case "counter":
      return family.samples.map(({ labels, value }) => sample(`${name}_total`, labels, value));
    case "histogram":
      return family.samples.flatMap((one) => bucketsOf(name, family.bounds, one));
  }
}

function bucketsOf(name: string, bounds: readonly number[], { labels, counts, sum }: Distribution): string[] {
  let count = 0;
  const buckets = counts.map((inBucket, at) => {
    count += inBucket;
    return sample(`${name}_bucket`, { ...labels, le: boundOf(bounds[at]) }, count);
  });
  return [...buckets, sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, count)];
}

/** A bound as both formats spell it: a bucket must be the same series whichever of them it was read in. */
function boundOf(bound: number | undefined): string {
  if (bound === undefined) return "+Inf";
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"');
}

function escapeHelp(text: string, format: Format): string {
  const escaped = text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n");
  return format === "openmetrics" ? escaped.replace(/"/g, '\\"') : escaped;
}
