import { useState } from "preact/hooks";
import { BURST } from "../../sim/burst.ts";
import type { Course, Figures, Outcome } from "./outcome.ts";
import { type Level, Plot, roundedUp, type Tone } from "./plot.tsx";
import type { View } from "./settings.ts";
import { Wide } from "./wide.tsx";
import { axisSeconds, boundName, otherBound, seconds } from "./words.ts";

/** The two charts: how many wait, and how long the oldest has waited, with the bound and without it. */

const HEIGHT = 240;
const STOP = { seconds: BURST.seconds, text: "sending stops" };
/** Seconds from one line of the table to the next. */
const TABLE_STEP = 10;

export interface ChartsProps {
  readonly outcome: Outcome;
  readonly view: View;
  choose(view: View): void;
}

export function Charts({ outcome, view, choose }: ChartsProps) {
  const [second, setSecond] = useState<number | null>(null);
  const { settings, chosen, other } = outcome;
  const names = [boundName(settings.bound), boundName(otherBound(settings))] as const;
  const secondsMax = axisSeconds(view, chosen, other);
  const chart = (title: string, key: "depth" | "oldest", most: (figures: Figures) => string, level: Level | null) => (
    <figure>
      <h3>{title}</h3>
      <Plot
        label={`${title}, over ${secondsMax} s. ${names[0]}: ${most(chosen.figures)}. ${names[1]}: ${most(other.figures)}.`}
        lines={[
          { values: other.course[key], tone: "muted", fill: "none", dashed: false },
          { values: chosen.course[key], tone: "accent", fill: "below", dashed: false },
        ]}
        secondsMax={secondsMax}
        valueMax={roundedUp(
          ...[chosen, other].flatMap(({ course }) => course[key].slice(0, secondsMax + 1)),
          level === null ? 0 : inSight(level.value, outcome),
        )}
        stop={STOP}
        level={level}
        height={HEIGHT}
        group="burst"
        onPoint={setSecond}
      />
      {alike(outcome, key, secondsMax) && (
        <p class="muted">Alike up to {seconds(secondsMax)}; “All of it” shows the difference.</p>
      )}
    </figure>
  );
  const level = settings.bound === null ? null : { value: settings.bound, text: `bound ${settings.bound}` };
  return (
    <section class="card x-charts" aria-label="Charts">
      <div class="x-legend">
        <Key tone="accent" text={names[0]} />
        <Key tone="muted" text={names[1]} />
        <ViewChoice view={view} choose={choose} />
      </div>
      <div class="x-pair">
        {chart("Jobs waiting", "depth", ({ longestQueue }) => `${longestQueue} at the most`, level)}
        {chart(
          "Oldest wait, in seconds",
          "oldest",
          ({ longestWait }) => `${seconds(longestWait)} at the longest`,
          null,
        )}
      </div>
      <p class="x-point muted num">{pointed(second, outcome, names)}</p>
      <Numbers outcome={outcome} names={names} secondsMax={secondsMax} />
    </section>
  );
}

/** Whether two lines lie on each other as far as the axis goes, and part behind its end. */
function alike({ chosen, other }: Outcome, key: "depth" | "oldest", secondsMax: number): boolean {
  const [one, two] = [chosen.course[key], other.course[key]];
  const differs = (second: number) => Math.abs((one[second] ?? 0) - (two[second] ?? 0)) > 1;
  const at = Array.from({ length: Math.max(one.length, two.length) }, (_, second) => second).find(differs);
  return at !== undefined && at > secondsMax;
}

const VIEWS: readonly (readonly [View, string])[] = [
  ["start", "First 120 s"],
  ["whole", "All of it"],
];

function ViewChoice({ view, choose }: Pick<ChartsProps, "view" | "choose">) {
  return (
    <fieldset class="x-view">
      <legend class="visually-hidden">How much the charts show</legend>
      {VIEWS.map(([value, name]) => (
        <label key={value}>
          <input type="radio" name="view" value={value} checked={view === value} onChange={() => choose(value)} />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

/** A bound far above all that waits is left out of the picture, not the picture made flat for it. */
function inSight(bound: number, { chosen, other }: Outcome): number {
  const most = Math.max(chosen.figures.longestQueue, other.figures.longestQueue);
  return bound <= 3 * most ? bound : 0;
}

export function Key({ tone, text }: { readonly tone: Tone; readonly text: string }) {
  return (
    <span class="x-key">
      <span class="x-swatch" data-tone={tone} />
      {text}
    </span>
  );
}

function pointed(second: number | null, { chosen, other }: Outcome, [one, two]: readonly [string, string]): string {
  if (second === null) return "Point at a chart to read a second of it.";
  const at = ({ depth, oldest }: Course) => {
    const waiting = depth[second] ?? 0;
    return waiting === 0 ? "nobody waits" : `${waiting} waiting, the oldest for ${seconds(oldest[second] ?? 0)}`;
  };
  return `At ${second} s. ${one}: ${at(chosen.course)}. ${two}: ${at(other.course)}.`;
}

interface NumbersProps {
  readonly outcome: Outcome;
  readonly names: readonly [string, string];
  readonly secondsMax: number;
}

/** The charts, for those who read them as numbers. */
function Numbers({ outcome: { chosen, other }, names, secondsMax }: NumbersProps) {
  const rows = Array.from({ length: secondsMax / TABLE_STEP + 1 }, (_, n) => n * TABLE_STEP);
  const cells = ({ depth, oldest }: Course, second: number) => [`${depth[second] ?? 0}`, seconds(oldest[second] ?? 0)];
  return (
    <details class="x-more">
      <summary>The charts as numbers</summary>
      <Wide name="The charts as numbers">
        <table class="num">
          <thead>
            <tr>
              <td />
              {names.map((name) => (
                <th key={name} class="num" colSpan={2} scope="colgroup">
                  {name}
                </th>
              ))}
            </tr>
            <tr>
              <th scope="col">Second</th>
              {names.map((name) => [
                <th key={`${name} waiting`} class="num" scope="col">
                  waiting
                </th>,
                <th key={`${name} oldest`} class="num" scope="col">
                  oldest wait
                </th>,
              ])}
            </tr>
          </thead>
          <tbody>
            {rows.map((second) => (
              <tr key={second}>
                <th scope="row">{second}</th>
                {[...cells(chosen.course, second), ...cells(other.course, second)].map((text, n) => (
                  <td key={names[n]} class="num">
                    {text}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </details>
  );
}
