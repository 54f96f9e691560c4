import { useState } from "preact/hooks";
import { lazily } from "../shared/lazily.tsx";
import { bytes, duration, whole } from "../shared/numbers.ts";
import { useDesk, useReading } from "./context.ts";
import { Section } from "./section.tsx";
import type { FlowControl as Flow } from "./shapes.ts";

/** What limits the engine: read here, changed in a dialog. */

const FlowDialog = lazily(() => import("./flow-dialog.tsx").then((file) => file.FlowDialog));
const EVERY_MS = 10_000;

export function FlowControl() {
  const { mayWrite } = useDesk();
  const { value: flow, fault } = useReading<Flow>("/admin/flow-control", EVERY_MS);
  const [isOpen, setOpen] = useState(false);
  return (
    <Section
      id="flow-control"
      title="Flow control"
      about="The limits in front of the engine. A change holds at once and outlives a restart."
      actions={
        mayWrite && flow !== null ? (
          <button type="button" onClick={() => setOpen(true)}>
            Change<span class="visually-hidden"> flow control</span>
          </button>
        ) : undefined
      }
      fault={fault}
    >
      {flow === null && fault === null && <p class="muted">Asking …</p>}
      {flow !== null && <Settings flow={flow} />}
      {isOpen && flow !== null && <FlowDialog flow={flow} onClose={() => setOpen(false)} />}
    </Section>
  );
}

function Settings({ flow }: { readonly flow: Flow }) {
  const { bound, boundBytes, enqueueWaitMs, algorithm, windowed, parameters, limit, writeRate } = flow;
  const steps = windowed ? ", once a second" : "";
  return (
    <dl class="settings num">
      <Setting name="Queue bound" value={`${whole(bound)} commands, ${bytes(boundBytes)}`} />
      <Setting
        name="Wait for room"
        value={enqueueWaitMs === 0 ? "none: refused at once" : `up to ${duration(enqueueWaitMs / 1000)}`}
      />
      <Setting
        name="Limit in flight"
        value={
          algorithm === "none" ? "none" : `${algorithm}${steps}: ${limit === null ? "no limit yet" : whole(limit)} now`
        }
      />
      <Setting
        name="Write rate"
        value={
          writeRate === null
            ? "not limited"
            : `${whole(writeRate.perSecond)}/s, burst ${whole(writeRate.burst)}${writeRate.warmUpSeconds > 0 ? `, warm-up ${duration(writeRate.warmUpSeconds)}` : ""}`
        }
      />
      {Object.entries(parameters).map(([name, value]) => (
        <Setting key={name} name={name} value={JSON.stringify(value)} isCode />
      ))}
    </dl>
  );
}

function Setting({
  name,
  value,
  isCode = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly isCode?: boolean;
}) {
  return (
    <div>
      <dt class="muted">{isCode ? <code>{name}</code> : name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
