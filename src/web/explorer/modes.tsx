import { BURST } from "../../sim/burst.ts";
import { type ModeReport, THREE_MODES, threeModes } from "../../sim/three-modes.ts";
import { Key } from "./charts.tsx";
import type { Outcome, Run } from "./outcome.ts";
import { type Line, Plot, roundedUp } from "./plot.tsx";
import { Wide } from "./wide.tsx";
import { axisSeconds, emptied, modeWords } from "./words.ts";

/** The three ways to meet the same burst side by side, and a small one that can be counted by hand. */

const HEIGHT = 170;
const STOP = { seconds: BURST.seconds, text: "sending stops" };

export function Modes({ outcome }: { readonly outcome: Outcome }) {
  const { modes, settings } = outcome;
  const { bound, noControl, backpressure, shedding } = modes;
  const words = modeWords(modes);
  const held = backpressure.course.held.map((count, second) => count + (backpressure.course.depth[second] ?? 0));
  const axes = {
    secondsMax: axisSeconds("whole", noControl, backpressure, shedding),
    valueMax: roundedUp(noControl.figures.longestQueue, ...held, shedding.figures.refused),
  };
  const queue = (run: Run): Line => ({ values: run.course.depth, tone: "accent", fill: "below", dashed: false });
  const ways = [
    { name: "No control", run: noControl, lines: [queue(noControl)], text: words.noControl },
    {
      name: "Backpressure",
      run: backpressure,
      lines: [{ values: held, tone: "warn", fill: "to next", dashed: false } as const, queue(backpressure)],
      text: words.backpressure,
    },
    {
      name: "Load shedding",
      run: shedding,
      lines: [{ values: shedding.course.refused, tone: "bad", fill: "none", dashed: true } as const, queue(shedding)],
      text: words.shedding,
    },
  ];
  return (
    <section class="card x-modes" aria-labelledby="modes">
      <div>
        <h2 id="modes">Three ways to meet this burst</h2>
        <p class="muted">
          The same jobs and the same backend. Backpressure and load shedding have a bound of {bound}
          {settings.bound === null ? ", as none is set above" : ""}.
        </p>
      </div>
      <p class="x-legend">
        <Key tone="accent" text="in the queue" />
        <Key tone="warn" text="held at the producer, on top" />
        <Key tone="bad" text="refused so far" />
      </p>
      <div class="x-three">
        {ways.map(({ name, run, lines, text }) => (
          <figure key={name}>
            <h3>{name}</h3>
            <Plot
              label={`${name}: ${text}`}
              lines={lines}
              {...axes}
              stop={STOP}
              level={null}
              height={HEIGHT}
              group="modes"
            />
            <p>{text}</p>
            <Totals run={run} />
          </figure>
        ))}
      </div>
      <ByHand />
    </section>
  );
}

function Totals({ run: { figures } }: { readonly run: Run }) {
  const rows: readonly (readonly [string, string])[] = [
    ["Done", `${figures.done} of ${figures.offered}`],
    ["Longest queue", `${figures.longestQueue}`],
    ["Most held", `${figures.mostHeld}`],
    ["Refused", `${figures.refused}`],
    ["Queue empty at", emptied(figures)],
  ];
  return (
    <dl class="x-totals num">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const COLUMNS: readonly (readonly [string, number, "queue" | "held" | "refused"])[] = [
  ["No control: queue", 0, "queue"],
  ["Backpressure: queue", 1, "queue"],
  ["Backpressure: held", 1, "held"],
  ["Load shedding: queue", 2, "queue"],
  ["Load shedding: refused so far", 2, "refused"],
];

/** The example of the text books, tick by tick. */
function ByHand() {
  const modes = threeModes();
  const { arrivals, perTick, bound } = THREE_MODES;
  return (
    <details class="x-more">
      <summary>A small burst, counted by hand</summary>
      <p class="muted">
        Four tasks arrive in each of six ticks, and {perTick} are finished per tick, after the tick’s arrivals; a
        bounded queue has room for {bound}. What was held back goes first. The queue is shown after the tick.
      </p>
      <Wide name="A small burst, tick by tick">
        <table class="num" id="by-hand">
          <thead>
            <tr>
              {["Tick", "Arrive", ...COLUMNS.map(([name]) => name)].map((name) => (
                <th key={name} scope="col" class="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {arrivals.map((arrive, n) => (
              <tr key={n.toString()}>
                <th scope="row" class="num">
                  {n + 1}
                </th>
                <td class="num">{arrive}</td>
                {COLUMNS.map(([name, mode, column]) => (
                  <td key={name} class="num">
                    {modes[mode]?.ticks[n]?.[column]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <ByHandTotals modes={modes} />
    </details>
  );
}

function ByHandTotals({ modes }: { readonly modes: readonly ModeReport[] }) {
  return (
    <Wide name="Totals of the small burst">
      <table class="num" id="by-hand-totals">
        <thead>
          <tr>
            {["Way", "Finished", "Longest queue", "Refused", "Left in the queue", "Held"].map((name, n) => (
              <th key={name} scope="col" class={n > 0 ? "num" : ""}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {modes.map(({ mode, processed, peakQueue, refused, leftInQueue, held }) => (
            <tr key={mode}>
              <th scope="row">{mode}</th>
              {Object.entries({ processed, peakQueue, refused, leftInQueue, held }).map(([name, value]) => (
                <td key={name} class="num">
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
