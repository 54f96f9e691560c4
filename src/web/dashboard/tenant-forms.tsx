import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { SelectField, TextField } from "../shared/field.tsx";
import { visible } from "../shared/visible.ts";
import { ActionButton, FaultNote, faultAt, useDoing } from "./action.tsx";
import { useDesk } from "./context.ts";
import { numberOf } from "./policy-form.ts";
import type { Tenant } from "./shapes.ts";
import { Part } from "./tenant-dialog.tsx";
import { tenantPath, useTierNames } from "./tenant-path.ts";

/** What can be changed about a tenant: its tier and status, and limits of its own. */

const STATUSES = ["active", "suspended"] as const;

export function PlaceForm({ tenant }: { readonly tenant: Tenant }) {
  const { change } = useDesk();
  const tiers = useTierNames();
  const [tier, setTier] = useState(tenant.tier);
  const [status, setStatus] = useState(tenant.status);
  const doing = useDoing();
  const submit = async (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    await doing.run(() => change("PUT", tenantPath(tenant.id), { tier, status }));
  };
  const isSame = tier === tenant.tier && status === tenant.status;
  return (
    <Part title="Tier and status">
      <form class="stack" onSubmit={submit} onInput={doing.clear} noValidate>
        <div class="fields">
          <SelectField
            label="Tier"
            fault={faultAt(doing.fault, "tier")}
            value={tier}
            options={tiers.includes(tier) ? tiers : [tier, ...tiers]}
            onValue={setTier}
          />
          <SelectField
            label="Status"
            hint="Suspended: every request is refused."
            value={status}
            options={STATUSES}
            onValue={setStatus}
          />
        </div>
        <FaultNote fault={doing.fault} shown={["tier"]} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={doing.isUnderWay || isSame}>
            {tier === tenant.tier ? "Save" : "Move it"}
          </button>
        </div>
      </form>
    </Part>
  );
}

export function OwnLimitsForm({ tenant: { id, limits } }: { readonly tenant: Tenant }) {
  const { change } = useDesk();
  const [rate, setRate] = useState(String(limits?.requestsPerSecond ?? ""));
  const [burst, setBurst] = useState(String(limits?.burstSize ?? ""));
  const doing = useDoing();
  const submit = async (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = { requestsPerSecond: numberOf(rate), burstSize: numberOf(burst) };
    await doing.run(() => change("PUT", tenantPath(id, "/limits"), body));
  };
  return (
    <Part title="Limits of its own">
      <form class="stack" onSubmit={submit} onInput={doing.clear} noValidate>
        <div class="fields">
          <TextField
            label="Requests a second"
            fault={faultAt(doing.fault, "requestsPerSecond")}
            numeric
            value={rate}
            onValue={setRate}
          />
          <TextField label="Burst" fault={faultAt(doing.fault, "burstSize")} numeric value={burst} onValue={setBurst} />
        </div>
        <FaultNote fault={doing.fault} shown={["requestsPerSecond", "burstSize"]} />
        <div class="buttons">
          {limits !== null && (
            <ActionButton
              label="Take them away"
              about={`from ${visible(id)}`}
              question={{
                title: "Take its own limits away?",
                text: `${visible(id)} goes by its tier's limits again, at once.`,
              }}
              run={() => change("DELETE", tenantPath(id, "/limits"))}
            />
          )}
          <button type="submit" class="primary" disabled={doing.isUnderWay}>
            Give it these limits
          </button>
        </div>
      </form>
    </Part>
  );
}
