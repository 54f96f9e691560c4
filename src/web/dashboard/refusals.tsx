import type { ProblemCode } from "../../core/problem.ts";
import { perSecond, whole } from "../shared/numbers.ts";
import { REFUSALS_SINCE, type Recent, total } from "./history.ts";
import { Section, Table } from "./section.tsx";
import type { AdminQueue } from "./shapes.ts";

/** Refused, by code: what each means to its caller, and how often it is said. */

const MEANINGS: Readonly<Partial<Record<ProblemCode, { status: number; means: string }>>> = {
  queue_full: { status: 503, means: "The queue is full, or a tenant has its share of it. Everyone has to wait." },
  request_limit: { status: 503, means: "As many are in flight as flow control allows. Everyone has to wait." },
  write_limit: { status: 503, means: "More arrive a second than the write limit. Everyone has to wait." },
  engine_paused: { status: 503, means: "An operator has paused the engine with new commands refused." },
  storage_full: { status: 503, means: "The engine's disk is short of space. Critical commands are still taken." },
  rate_limited: {
    status: 429,
    means: "A tenant is over its own limit, or an address guesses keys. Nobody else is touched.",
  },
  cost_exceeds_capacity: { status: 422, means: "One request asked for more than its limit can ever hold." },
};

interface RefusalsProps {
  readonly queue: AdminQueue;
  readonly recent: Recent | null;
}

export function Refusals({ queue, recent }: RefusalsProps) {
  const { refused } = queue.counters;
  // Known codes keep their places; whatever else is counted comes after them.
  const codes = [...new Set([...Object.keys(MEANINGS), ...Object.keys(refused)])];
  return (
    <Section
      id="refused"
      title="Refused, by reason"
      about={
        total(refused) === 0
          ? `Nobody was refused since ${REFUSALS_SINCE}.`
          : `Counted since ${REFUSALS_SINCE}. 503 means that everyone has to wait, 429 that one caller sent too much.`
      }
      fault={null}
    >
      <Table name="Refused, by reason" columns={COLUMNS}>
        {codes.map((code) => (
          <Row key={code} code={code} count={refused[code] ?? 0} rate={recent?.refusedPerSecond[code] ?? 0} />
        ))}
      </Table>
    </Section>
  );
}

const COLUMNS = [
  { name: "Code" },
  { name: "Answer" },
  { name: "Meaning" },
  { name: "Lately", isNumber: true },
  { name: "In all", isNumber: true },
];

function Row({ code, count, rate }: { readonly code: string; readonly count: number; readonly rate: number }) {
  const known = Object.entries(MEANINGS).find(([name]) => name === code)?.[1];
  return (
    <tr class={count === 0 ? "muted unused" : undefined}>
      <th scope="row">
        <code>{code}</code>
      </th>
      <td class="num-left">{known?.status ?? ""}</td>
      <td>{known?.means ?? ""}</td>
      <td class="num">{rate > 0 ? perSecond(rate) : "–"}</td>
      <td class="num">{whole(count)}</td>
    </tr>
  );
}
