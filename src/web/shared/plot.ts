import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "./frame.tsx";

/**
 * What every chart has in common: uPlot in an element of the page. It is made once per theme and then only told of new
 * values, so that it keeps up with what moves. Colours are those of theme.css, as the browser resolves them.
 */

/** Text on a canvas, in CSS pixels. */
export const TEXT_PX = 12;

/** What a chart draws with: resolved for the theme that is shown. */
export interface Look {
  /** A colour of theme.css by its name, `--accent`, as `rgb(…)`. */
  readonly color: (name: string) => string;
  /** A canvas font: the page's. */
  readonly font: string;
}

/** What every axis has; the second one adds its grid. */
export function axisOf({ color, font }: Look): uPlot.Axis {
  return { stroke: color("--muted"), font, ticks: { show: false }, grid: { show: false } };
}

/** The lines across a chart. */
export function gridOf({ color }: Look): uPlot.Axis.Grid {
  return { stroke: color("--line"), width: 1 };
}

/** Options without what follows from the element. */
export type PlotOptions = Omit<uPlot.Options, "width" | "height">;

/**
 * Draws a chart in the element that the reference is given to.
 *
 * @param optionsOf asked for each time that the chart is made: when the theme or `madeOf` changes
 * @param data columns: the first along the axis, rising; then one for each line
 * @param height in CSS pixels
 * @param madeOf what the options are made of, compared by identity
 */
export function usePlot(
  optionsOf: (look: Look) => PlotOptions,
  data: uPlot.AlignedData,
  height: number,
  madeOf: unknown,
): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useTheme();
  // The effect makes the chart of what is there when it runs, and runs for other reasons.
  const latest = useRef({ optionsOf, data });
  latest.current = { optionsOf, data };

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const size = () => ({ width: element.clientWidth, height });
    const options = latest.current.optionsOf(lookOf(element));
    const made = new uPlot({ ...options, ...size(), legend: { show: false } }, latest.current.data, element);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize(size()));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
    // The theme is what colours are resolved by.
  }, [theme, madeOf, height]);
  useEffect(() => plot.current?.setData(data), [data]);
  return place;
}

function lookOf(element: HTMLElement): Look {
  const known = new Map<string, string>();
  const color = (name: string) => {
    const resolved = known.get(name) ?? colorOf(element, name);
    known.set(name, resolved);
    return resolved;
  };
  return { color, font: `${TEXT_PX}px ${getComputedStyle(element).fontFamily}` };
}

function colorOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
