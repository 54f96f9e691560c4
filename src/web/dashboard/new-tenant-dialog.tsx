import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "../shared/dialog.tsx";
import { SelectField, TextField } from "../shared/field.tsx";
import { FaultNote, faultAt, useDoing } from "./action.tsx";
import { useDesk } from "./context.ts";
import { tenantPath, useTierNames } from "./tenant-path.ts";

/** Making a tenant. Its dialog opens after that: a tenant without a key cannot send. */

interface NewTenantDialogProps {
  readonly onClose: () => void;
  readonly onMade: (id: string) => void;
}

export function NewTenantDialog({ onClose, onMade }: NewTenantDialogProps) {
  const { ask, change } = useDesk();
  const tiers = useTierNames();
  const [id, setId] = useState("");
  const [tier, setTier] = useState("standard");
  const [isTaken, setTaken] = useState(false);
  const doing = useDoing();
  const submit = async (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    const wanted = id.trim();
    // Making and changing are one route: a name that is taken would be moved between tiers.
    const taken = wanted !== "" && (await ask("GET", tenantPath(wanted))).kind === "ok";
    setTaken(taken);
    if (taken) return;
    const answer = await doing.run(() => change("PUT", tenantPath(wanted), { tier }));
    if (answer?.kind === "ok") onMade(wanted);
  };
  const fault = isTaken ? "There is a tenant of this id already." : faultAt(doing.fault, "id");
  return (
    <Dialog title="New tenant" onClose={onClose}>
      <form class="stack" onSubmit={submit} onInput={doing.clear} noValidate>
        <div class="fields">
          <TextField label="Id" fault={fault} value={id} onValue={setId} isFirst />
          <SelectField
            label="Tier"
            fault={faultAt(doing.fault, "tier")}
            value={tier}
            options={tiers.includes(tier) ? tiers : [tier, ...tiers]}
            onValue={setTier}
          />
        </div>
        <FaultNote fault={doing.fault} shown={["id", "tier"]} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="primary" disabled={doing.isUnderWay}>
            Make the tenant
          </button>
        </div>
      </form>
    </Dialog>
  );
}
