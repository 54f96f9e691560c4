import { useRef } from "preact/hooks";
import uPlot from "uplot";
import { axisOf, gridOf, type Look, type PlotOptions, TEXT_PX, usePlot } from "../shared/plot.ts";

/** One chart over time, with lines across it that say where something ends. */

/** Names of colours in theme.css. */
export type Tone = "accent" | "muted" | "warn" | "bad";

export interface Line {
  /** One a second, from second 0. */
  readonly values: readonly number[];
  readonly tone: Tone;
  /** What is coloured: nothing, all below it, or what lies between it and the next line. */
  readonly fill: "none" | "below" | "to next";
  readonly dashed: boolean;
}

export interface Level {
  readonly value: number;
  readonly text: string;
}

export interface PlotProps {
  /** What is drawn, in words, for those who do not see it. */
  readonly label: string;
  readonly lines: readonly Line[];
  /** Where the axes end. */
  readonly secondsMax: number;
  readonly valueMax: number;
  /** A dashed line across time, and what it says. */
  readonly stop: { readonly seconds: number; readonly text: string };
  /** A dashed line across values; null: none. */
  readonly level: Level | null;
  readonly height: number;
  /** Charts of one group show the same moment. */
  readonly group: string;
  /** Hears of the second that is pointed at; null: none. */
  readonly onPoint?: (second: number | null) => void;
}

const DASH = [5, 4];
const FILL_ALPHA = 0.14;

export function Plot(props: PlotProps) {
  const { lines, secondsMax, height } = props;
  // uPlot keeps the options that it was made with: it asks for what may change meanwhile here.
  const latest = useRef(props);
  latest.current = props;
  const place = usePlot((look) => optionsOf(latest, look), dataOf(lines, secondsMax), height, lines.length);
  return <div ref={place} class="plot" role="img" aria-label={props.label} style={{ height: `${height}px` }} />;
}

/** Every line reaches to the end of the axis: what is over stays as it ended. */
function dataOf(lines: readonly Line[], secondsMax: number): uPlot.AlignedData {
  const seconds = Array.from({ length: secondsMax + 1 }, (_, second) => second);
  return [seconds, ...lines.map(({ values }) => seconds.map((second) => values[second] ?? values.at(-1) ?? 0))];
}

function optionsOf(latest: { readonly current: PlotProps }, look: Look): PlotOptions {
  const { lines, group } = latest.current;
  const axis = axisOf(look);
  return {
    cursor: { sync: { key: group }, drag: { x: false, y: false }, y: false, points: { size: 6 } },
    scales: {
      x: { time: false, range: () => [0, latest.current.secondsMax] },
      y: { range: () => [0, latest.current.valueMax] },
    },
    axes: [
      { ...axis, size: 28, gap: 6, space: 44, incrs: [10, 20, 30, 60, 120], values: inSeconds },
      { ...axis, grid: gridOf(look), size: 44, gap: 6, space: 34 },
    ],
    series: [{}, ...lines.map((line) => seriesOf(line, look))],
    bands: lines.flatMap(({ fill, tone }, n) =>
      fill === "to next" ? [{ series: [n + 1, n + 2] as [number, number], fill: pale(tone, look) }] : [],
    ),
    hooks: {
      draw: [(plot) => drawMarks(plot, latest.current, look)],
      setCursor: [({ cursor }) => latest.current.onPoint?.(cursor.idx ?? null)],
    },
  };
}

function seriesOf({ tone, fill, dashed }: Line, look: Look): uPlot.Series {
  return {
    stroke: look.color(`--${tone}`),
    width: fill === "none" ? 1.5 : 2,
    points: { show: false },
    ...(fill === "below" ? { fill: pale(tone, look) } : {}),
    ...(dashed ? { dash: DASH } : {}),
  };
}

function inSeconds(_plot: uPlot, splits: number[]): string[] {
  return splits.map((value) => `${value} s`);
}

/** The dashed lines and their words, over everything else. */
function drawMarks(plot: uPlot, { stop, level }: PlotProps, { color, font }: Look): void {
  const { ctx, bbox } = plot;
  const ratio = uPlot.pxRatio;
  const across = (from: [number, number], to: [number, number], name: string) => {
    ctx.strokeStyle = color(name);
    ctx.lineWidth = ratio;
    ctx.setLineDash(DASH.map((length) => length * ratio));
    ctx.beginPath();
    ctx.moveTo(...from);
    ctx.lineTo(...to);
    ctx.stroke();
  };
  ctx.save();
  ctx.font = font.replace(`${TEXT_PX}px`, `${TEXT_PX * ratio}px`);
  ctx.textBaseline = "top";
  const right = bbox.left + bbox.width;
  const x = plot.valToPos(stop.seconds, "x", true);
  across([x, bbox.top], [x, bbox.top + bbox.height], "--muted");
  ctx.fillStyle = color("--muted");
  ctx.textAlign = "left";
  ctx.fillText(stop.text, x + 5 * ratio, bbox.top + 2 * ratio);
  if (level !== null) {
    const y = plot.valToPos(level.value, "y", true);
    across([bbox.left, y], [right, y], "--bad");
    ctx.fillStyle = color("--bad");
    ctx.textAlign = "right";
    ctx.fillText(level.text, right - 2 * ratio, y - (TEXT_PX + 4) * ratio);
  }
  ctx.restore();
}

/** A tone so thin that lines are seen through it. */
function pale(tone: Tone, { color }: Look): string {
  return color(`--${tone}`).replace(/^rgb\((.*)\)$/, `rgba($1, ${FILL_ALPHA})`);
}

/** An axis of less would count in parts of a job. */
const AXIS_MIN = 9;

/** Where an axis ends that shows all of these values: the next round number. */
export function roundedUp(...values: readonly number[]): number {
  const most = Math.max(AXIS_MIN, ...values) * 1.08;
  const step = 10 ** Math.floor(Math.log10(most)) / 2;
  return Math.ceil(most / step) * step;
}
