import { useState } from "preact/hooks";
import { lazily } from "../shared/lazily.tsx";
import { whole } from "../shared/numbers.ts";
import { ActionButton } from "./action.tsx";
import { useDesk, useReading } from "./context.ts";
import { policyInWords } from "./policy-form.ts";
import { focusSection, Section, Table } from "./section.tsx";
import type { Tier } from "./shapes.ts";

/** Named sets of limits. */

const TierDialog = lazily(() => import("./tier-dialog.tsx").then((file) => file.TierDialog));
const ID = "tiers";
const EVERY_MS = 30_000;
const COLUMNS = [
  { name: "Tier" },
  { name: "Limits" },
  { name: "Decided" },
  { name: "Weight", isNumber: true },
  { name: "Actions", isHidden: true },
];

/** Which tier's dialog is open: one that there is, a new one, or none. */
type Open = Tier | "new" | null;

export function Tiers() {
  const { mayWrite } = useDesk();
  const { value, fault } = useReading<{ readonly tiers: readonly Tier[] }>("/admin/tiers", EVERY_MS);
  const [open, setOpen] = useState<Open>(null);
  return (
    <Section
      id={ID}
      title="Tiers"
      about="What tenants may send; leased in part to whoever is busy with them, or exact. Weight is a tenant's turns in the queue against others'. A change holds with the next request."
      actions={
        mayWrite ? (
          <button type="button" onClick={() => setOpen("new")}>
            New tier
          </button>
        ) : undefined
      }
      fault={fault}
    >
      {value === null && fault === null && <p class="muted">Asking …</p>}
      {value !== null && (
        <Table name="Tiers" columns={COLUMNS}>
          {value.tiers.map((tier) => (
            <Row key={tier.name} tier={tier} onOpen={() => setOpen(tier)} />
          ))}
        </Table>
      )}
      {open !== null && <TierDialog tier={open === "new" ? null : open} onClose={() => setOpen(null)} />}
    </Section>
  );
}

function Row({ tier, onOpen }: { readonly tier: Tier; readonly onOpen: () => void }) {
  const { mayWrite, change } = useDesk();
  const { name, policies, limiterMode, weight } = tier;
  return (
    <tr>
      <th scope="row" class="name">
        {name}
      </th>
      <td class="num-left">
        {policies.map((policy) => (
          <div key={policy.name}>
            {policyInWords(policy)}
            {policies.length > 1 && <span class="muted"> ({policy.name})</span>}
          </div>
        ))}
      </td>
      <td>{limiterMode}</td>
      <td class="num">{whole(weight)}</td>
      <td>
        {mayWrite && (
          <div class="buttons row-actions">
            <button type="button" onClick={onOpen}>
              Change<span class="visually-hidden"> {name}</span>
            </button>
            <ActionButton
              label="Delete"
              about={name}
              tone="danger"
              question={{
                title: `Delete the tier ${name}?`,
                text: "It is refused while tenants are in it: move them first.",
              }}
              run={() => change("DELETE", `/admin/tiers/${encodeURIComponent(name)}`)}
              after={() => focusSection(ID)}
            />
          </div>
        )}
      </td>
    </tr>
  );
}
