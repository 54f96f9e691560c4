import { type CustomSeriesRenderItem, type EChartsOption, init } from "echarts";
import { sideOf } from "./sides.ts";
import { figuresOfSide, type Round, ratioOf, type Table } from "./tables.ts";

/** The rates as a picture: a panel for each table, a bar for each median, a line from the lowest to the highest round. */

const WIDTH = 920;
const LEFT = 300;
const RIGHT = 170;
const ROW_HEIGHT = 26;
const PANEL_HEAD = 56;
const PANEL_FOOT = 26;
const TEXT = "#24292f";
const OURS = "#1f6feb";
const BARE = "#8c959f";
const OTHERS = "#d4a72c";

interface Bar {
  readonly label: string;
  readonly colour: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly note: string;
}

interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** Pixels from the top. */
  readonly top: number;
}

/** @returns the picture as SVG */
export function drawChart(tables: readonly Table[], rounds: readonly Round[]): string {
  const panels: Panel[] = [];
  let top = 0;
  for (const table of tables) {
    const bars = barsOf(table, rounds);
    if (bars.length === 0) continue;
    panels.push({ title: table.title, bars, top });
    top += PANEL_HEAD + bars.length * ROW_HEIGHT + PANEL_FOOT;
  }
  const chart = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height: top });
  try {
    chart.setOption(optionOf(panels));
    return `${chart.renderToSVGString()}\n`;
  } finally {
    chart.dispose();
  }
}

function barsOf(table: Table, rounds: readonly Round[]): Bar[] {
  return table.rows.flatMap(([id, against]) => {
    const rate = figuresOfSide(rounds, id, "perSecond");
    if (rate === null) return [];
    const ratio = against === null ? null : ratioOf(rounds, id, against);
    const { label } = sideOf(id);
    const note = ratio === null ? "" : `${ratio.median.toFixed(2)} × ${against}`;
    return [{ label: against === null ? `${label} (${id})` : label, colour: colourOf(label), note, ...rate }];
  });
}

function colourOf(label: string): string {
  if (label.startsWith("our ")) return OURS;
  return /^(bare|one row)/.test(label) ? BARE : OTHERS;
}

function optionOf(panels: readonly Panel[]): EChartsOption {
  return {
    animation: false,
    backgroundColor: "#ffffff",
    textStyle: { fontFamily: "sans-serif" },
    title: panels.map(({ title, top }) => ({
      text: `${title}, answers a second`,
      left: 16,
      top: top + 16,
      textStyle: { fontSize: 14, color: TEXT },
    })),
    grid: panels.map(({ bars, top }) => ({
      left: LEFT,
      right: RIGHT,
      top: top + PANEL_HEAD,
      height: bars.length * ROW_HEIGHT,
    })),
    xAxis: panels.map((_, gridIndex) => ({
      gridIndex,
      type: "value" as const,
      min: 0,
      splitNumber: 4,
      axisLabel: { color: TEXT },
      splitLine: { lineStyle: { color: "#eaeef2" } },
    })),
    // Names on the left, ratios on the right.
    yAxis: panels.flatMap(({ bars }, gridIndex) => [
      { ...CATEGORIES, gridIndex, data: bars.map(({ label }) => label) },
      { ...CATEGORIES, gridIndex, position: "right" as const, data: bars.map(({ note }) => note) },
    ]),
    series: panels.flatMap(({ bars }, n) => [
      {
        type: "bar" as const,
        xAxisIndex: n,
        yAxisIndex: 2 * n,
        barWidth: 14,
        data: bars.map(({ median, colour }) => ({ value: Math.round(median), itemStyle: { color: colour } })),
      },
      {
        type: "custom" as const,
        xAxisIndex: n,
        yAxisIndex: 2 * n,
        renderItem: whisker,
        encode: { x: [1, 2], y: 0 },
        data: bars.map(({ min, max }, row) => [row, min, max]),
        // Over the bars.
        z: 3,
      },
    ]),
  };
}

const CATEGORIES = {
  type: "category" as const,
  inverse: true,
  axisTick: { show: false },
  axisLine: { show: false },
  axisLabel: { color: TEXT, width: LEFT - 24, overflow: "truncate" as const },
};

/** From the lowest to the highest, with a stroke across each end. */
const whisker: CustomSeriesRenderItem = (_params, api) => {
  const row = Number(api.value(0));
  const [x1 = 0, y = 0] = api.coord([api.value(1), row]);
  const [x2 = 0] = api.coord([api.value(2), row]);
  const line = (from: readonly [number, number], to: readonly [number, number]) => ({
    type: "line" as const,
    shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] },
    style: { stroke: TEXT, lineWidth: 1.2 },
  });
  return {
    type: "group",
    children: [line([x1, y], [x2, y]), line([x1, y - 4], [x1, y + 4]), line([x2, y - 4], [x2, y + 4])],
  };
};
