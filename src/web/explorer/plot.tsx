import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "../shared/frame.tsx";

/**
 * One chart over time. It is made once per theme and then only told of new values, so that it keeps up with a control
 * that moves. Colours are those of theme.css, as the browser resolves them.
 */

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
const TEXT_PX = 12;
const FILL_ALPHA = 0.14;

export function Plot(props: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const theme = useTheme();

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = make(element, latest);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: latest.current.height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [theme, props.lines.length]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props]);

  return <div ref={place} class="plot" role="img" aria-label={props.label} style={{ height: `${props.height}px` }} />;
}

/** Every line reaches to the end of the axis: what is over stays as it ended. */
function dataOf({ lines, secondsMax }: PlotProps): uPlot.AlignedData {
  const seconds = Array.from({ length: secondsMax + 1 }, (_, second) => second);
  return [seconds, ...lines.map(({ values }) => seconds.map((second) => values[second] ?? values.at(-1) ?? 0))];
}

function make(element: HTMLElement, latest: { readonly current: PlotProps }): uPlot {
  const colour = coloursOf(element);
  const { lines, height, group } = latest.current;
  const font = `${TEXT_PX}px ${getComputedStyle(element).fontFamily}`;
  const axis = { stroke: colour("muted"), font, ticks: { show: false } };
  const grid = { stroke: colour("line"), width: 1 };
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { sync: { key: group }, drag: { x: false, y: false }, y: false, points: { size: 6 } },
      scales: {
        x: { time: false, range: () => [0, latest.current.secondsMax] },
        y: { range: () => [0, latest.current.valueMax] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 28,
          gap: 6,
          space: 44,
          incrs: [10, 20, 30, 60, 120],
          values: inSeconds,
        },
        { ...axis, grid, size: 44, gap: 6, space: 34 },
      ],
      series: [{}, ...lines.map((line) => seriesOf(line, colour))],
      bands: lines.flatMap(({ fill, tone }, n) =>
        fill === "to next" ? [{ series: [n + 1, n + 2] as [number, number], fill: withAlpha(colour(tone)) }] : [],
      ),
      hooks: {
        draw: [(plot) => drawMarks(plot, latest.current, colour, font)],
        setCursor: [({ cursor }) => latest.current.onPoint?.(cursor.idx ?? null)],
      },
    },
    dataOf(latest.current),
    element,
  );
}

function seriesOf({ tone, fill, dashed }: Line, colour: (name: string) => string): uPlot.Series {
  return {
    stroke: colour(tone),
    width: fill === "none" ? 1.5 : 2,
    points: { show: false },
    ...(fill === "below" ? { fill: withAlpha(colour(tone)) } : {}),
    ...(dashed ? { dash: DASH } : {}),
  };
}

function inSeconds(_plot: uPlot, splits: number[]): string[] {
  return splits.map((value) => `${value} s`);
}

/** The dashed lines and their words, over everything else. */
function drawMarks(plot: uPlot, { stop, level }: PlotProps, colour: (name: string) => string, font: string): void {
  const { ctx, bbox } = plot;
  const ratio = uPlot.pxRatio;
  const across = (from: [number, number], to: [number, number], name: string) => {
    ctx.strokeStyle = colour(name);
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
  across([x, bbox.top], [x, bbox.top + bbox.height], "muted");
  ctx.fillStyle = colour("muted");
  ctx.textAlign = "left";
  ctx.fillText(stop.text, x + 5 * ratio, bbox.top + 2 * ratio);
  if (level !== null) {
    const y = plot.valToPos(level.value, "y", true);
    across([bbox.left, y], [right, y], "bad");
    ctx.fillStyle = colour("bad");
    ctx.textAlign = "right";
    ctx.fillText(level.text, right - 2 * ratio, y - (TEXT_PX + 4) * ratio);
  }
  ctx.restore();
}

/** Colours by their names in theme.css, as they are in the theme that is shown: `rgb(…)`. */
function coloursOf(element: HTMLElement): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    let colour = known.get(name);
    if (colour === undefined) {
      const probe = document.createElement("span");
      probe.style.color = `var(--${name})`;
      element.append(probe);
      colour = getComputedStyle(probe).color;
      probe.remove();
      known.set(name, colour);
    }
    return colour;
  };
}

function withAlpha(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${FILL_ALPHA})`);
}

/** An axis of less would count in parts of a job. */
const AXIS_MIN = 9;

/** Where an axis ends that shows all of these values: the next round number. */
export function roundedUp(...values: readonly number[]): number {
  const most = Math.max(AXIS_MIN, ...values) * 1.08;
  const step = 10 ** Math.floor(Math.log10(most)) / 2;
  return Math.ceil(most / step) * step;
}
