import { useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import "./chart.css";
import { axisOf, gridOf, type Look, type PlotOptions, usePlot } from "./plot.ts";

/**
 * A chart of lines over one axis. What it shows is also in words: each line's name and value stand above
 * it, of the place under the pointer or of the last one, so that no colour has to be known.
 */

export interface Line {
  readonly name: string;
  /** A colour of theme.css: "--accent". */
  readonly color: string;
  readonly isDashed?: boolean;
  /** Whether the area under it is filled. */
  readonly isFilled?: boolean;
}

export interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  /** Columns: the first along the axis, rising; then one for each line, null where there is nothing. */
  readonly data: readonly (readonly (number | null)[])[];
  /** Both ends of the axis. Fixed, so that nothing jumps. */
  readonly from: number;
  readonly to: number;
  /** Where the axis has its marks, and what is written there. */
  readonly marks: readonly number[];
  readonly markOf: (value: number) => string;
  /** A value in words, with its unit. */
  readonly say: (value: number) => string;
  /** The least that the upper end is. */
  readonly topMin: number;
}

const HEIGHT = 176;

export function Chart(props: ChartProps) {
  const { title, lines, data, say, markOf } = props;
  const [pointed, setPointed] = useState<number | null>(null);
  // uPlot keeps the options that it was made with: it asks for what may change meanwhile here.
  const latest = useRef(props);
  latest.current = props;
  // uPlot only reads them.
  const columns = data as unknown as uPlot.AlignedData;
  const place = usePlot((look) => optionsOf(latest, look, setPointed), columns, HEIGHT, lines);

  const last = (data[0]?.length ?? 0) - 1;
  const shown = pointed !== null && pointed <= last ? pointed : last;
  const at = data[0]?.[shown];
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <span class="chart-at num" aria-hidden="true">
          {pointed !== null && typeof at === "number" ? markOf(at) : ""}
        </span>
        <ul class="chart-lines">
          {lines.map((line, n) => (
            <li key={line.name}>
              <Swatch line={line} />
              {line.name}
              <b class="num">{inWords(data[n + 1]?.[shown], say)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        class="chart-place"
        ref={place}
        role="img"
        aria-label={`Chart: ${title}. Its last values are written above it.`}
      />
    </figure>
  );
}

function Swatch({ line }: { line: Line }) {
  return (
    <svg class="swatch" viewBox="0 0 18 8" aria-hidden="true" style={{ color: `var(${line.color})` }}>
      <path d="M1 4h16" stroke="currentColor" stroke-width="3" stroke-dasharray={line.isDashed ? "4 3" : undefined} />
    </svg>
  );
}

function inWords(value: number | null | undefined, say: (value: number) => string): string {
  return value === null || value === undefined ? "–" : say(value);
}

function optionsOf(
  latest: { readonly current: ChartProps },
  look: Look,
  point: (place: number | null) => void,
): PlotOptions {
  const axis = axisOf(look);
  return {
    padding: [8, 12, 0, 0],
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
    scales: {
      x: { time: false, range: () => [latest.current.from, latest.current.to] },
      y: { range: (_plot, _low, high) => [0, top(Math.max(latest.current.topMin, high ?? 0))] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        splits: () => [...latest.current.marks],
        values: (_plot, marks) => marks.map((mark) => latest.current.markOf(mark)),
      },
      { ...axis, grid: gridOf(look), size: 48, space: 36, values: (_plot, marks) => marks.map(short) },
    ],
    series: [
      {},
      ...latest.current.lines.map(({ color: name, isDashed, isFilled }) => ({
        stroke: look.color(name),
        width: 2,
        points: { show: false },
        ...(isDashed ? { dash: [6, 4] } : {}),
        ...(isFilled ? { fill: look.color(`${name}-soft`) } : {}),
      })),
    ],
    hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? null)] },
  };
}

/** The upper end: a little above the highest, in steps that are easy to read and that seldom change. */
function top(highest: number): number {
  const step = 10 ** Math.floor(Math.log10(Math.max(1, highest)));
  return Math.max(1, Math.ceil((highest * 1.05) / (step / 5)) * (step / 5));
}

function short(value: number): string {
  return value >= 10_000 ? `${value / 1000}k` : String(value);
}
