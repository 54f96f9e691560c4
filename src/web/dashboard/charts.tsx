import { useMemo } from "preact/hooks";
import { Chart, type Line } from "../shared/chart.tsx";
import { perSecond, whole } from "../shared/numbers.ts";
import { columnsOf, HISTORY_MS, type Look } from "./history.ts";

/** The last five minutes, as this page has seen them. */

const FROM = -HISTORY_MS / 1000;
const MARKS = [-300, -240, -180, -120, -60, 0];

const QUEUED: readonly Line[] = [
  { name: "queued", color: "--accent", isFilled: true },
  { name: "bound", color: "--line-strong", isDashed: true },
];
const IN_FLIGHT: readonly Line[] = [
  { name: "in flight", color: "--accent", isFilled: true },
  { name: "limit", color: "--line-strong", isDashed: true },
];
const FLOW: readonly Line[] = [
  { name: "accepted", color: "--accent" },
  { name: "refused", color: "--bad", isDashed: true },
];

function ago(seconds: number): string {
  if (seconds > -1) return "now";
  return seconds % 60 === 0 ? `${-seconds / 60} min` : `${Math.round(-seconds)} s ago`;
}

const ALONG = { from: FROM, to: 0, marks: MARKS, markOf: ago };

export function Charts({ looks }: { readonly looks: readonly Look[] }) {
  const columns = useMemo(() => columnsOf(looks), [looks]);
  const { secondsAgo, depth, bound, inFlight, limit, acceptedPerSecond, refusedPerSecond } = columns;
  const queued = useMemo(() => [secondsAgo, depth, bound], [columns]);
  const flying = useMemo(() => [secondsAgo, inFlight, limit], [columns]);
  const flow = useMemo(() => [secondsAgo, acceptedPerSecond, refusedPerSecond], [columns]);
  return (
    <section class="charts" aria-labelledby="charts">
      <h2 id="charts" class="visually-hidden">
        The last five minutes
      </h2>
      <div class="card">
        <Chart title="Queue" lines={QUEUED} data={queued} {...ALONG} say={whole} topMin={10} />
      </div>
      <div class="card">
        <Chart title="In flight" lines={IN_FLIGHT} data={flying} {...ALONG} say={whole} topMin={10} />
      </div>
      <div class="card">
        <Chart title="Accepted and refused" lines={FLOW} data={flow} {...ALONG} say={perSecond} topMin={5} />
      </div>
    </section>
  );
}
