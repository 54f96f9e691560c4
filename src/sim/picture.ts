import type { Sample } from "./measures.ts";

/** A run as a picture: how many wait, how long the oldest has waited, and what is refused, over time. Plain SVG. */

const WIDTH = 960;
const PANEL = { left: 70, width: 870, height: 130, gap: 40, top: 50 };

interface Panel {
  readonly title: string;
  readonly colour: string;
  readonly value: (sample: Sample) => number;
}

const PANELS: readonly Panel[] = [
  { title: "queued", colour: "#3366cc", value: ({ depth }) => depth },
  { title: "oldest wait, seconds", colour: "#cc8800", value: ({ oldestSeconds }) => oldestSeconds },
  { title: "refused since the sample before", colour: "#cc3333", value: ({ refused }) => refused },
];

/**
 * @param title what was run, for its first line
 * @returns an SVG document
 */
export function picture(title: string, timeline: readonly Sample[]): string {
  const endSeconds = Math.max(1, timeline.at(-1)?.seconds ?? 1);
  const panels = PANELS.map((panel, n) => drawPanel(panel, n, timeline, endSeconds));
  const height = PANEL.top + PANELS.length * (PANEL.height + PANEL.gap);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="${PANEL.left}" y="24" font-size="15">${escaped(title)}</text>`,
    ...panels,
    "</svg>",
    "",
  ].join("\n");
}

function drawPanel(panel: Panel, n: number, timeline: readonly Sample[], endSeconds: number): string {
  const top = PANEL.top + n * (PANEL.height + PANEL.gap);
  const bottom = top + PANEL.height;
  const right = PANEL.left + PANEL.width;
  const most = Math.max(1e-9, ...timeline.map(panel.value));
  const x = (seconds: number) => (PANEL.left + (PANEL.width * seconds) / endSeconds).toFixed(1);
  const y = (value: number) => (bottom - (PANEL.height * value) / most).toFixed(1);
  const points = timeline.map((sample) => `${x(sample.seconds)},${y(panel.value(sample))}`);
  const area = [`${PANEL.left},${bottom}`, ...points, `${x(timeline.at(-1)?.seconds ?? 0)},${bottom}`].join(" ");
  return [
    `<text x="${PANEL.left}" y="${top - 6}" fill="${panel.colour}">${panel.title}</text>`,
    `<text x="${PANEL.left - 6}" y="${top + 10}" text-anchor="end">${Number(most.toPrecision(4))}</text>`,
    `<text x="${PANEL.left - 6}" y="${bottom}" text-anchor="end">0</text>`,
    `<polygon points="${area}" fill="${panel.colour}" fill-opacity="0.2" stroke="${panel.colour}"/>`,
    `<line x1="${PANEL.left}" y1="${bottom}" x2="${right}" y2="${bottom}" stroke="#888888"/>`,
    `<text x="${right}" y="${bottom + 14}" text-anchor="end">${Math.round(endSeconds)} s</text>`,
  ].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
