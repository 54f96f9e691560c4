import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { LIMITER_MODES, type LimiterMode } from "../../core/lease.ts";
import { POLICY_TYPES, SCOPES } from "../../core/policy.ts";
import { Dialog } from "../shared/dialog.tsx";
import { SelectField, TextField } from "../shared/field.tsx";
import { FaultNote, faultAt, useDoing } from "./action.tsx";
import type { Fault } from "./admin.ts";
import { useDesk } from "./context.ts";
import { faultPathsOf, formOfPolicy, NEW_POLICY, numberOf, type PolicyForm, policyOf } from "./policy-form.ts";
import type { Tier } from "./shapes.ts";

/** Making a tier, or replacing its limits. */

interface TierDialogProps {
  /** Null: a new one. */
  readonly tier: Tier | null;
  readonly onClose: () => void;
}

export function TierDialog({ tier, onClose }: TierDialogProps) {
  const { change } = useDesk();
  const [name, setName] = useState(tier?.name ?? "");
  const [weight, setWeight] = useState(String(tier?.weight ?? 1));
  const [limiterMode, setLimiterMode] = useState<LimiterMode>(tier?.limiterMode ?? "leased");
  const [policies, setPolicies] = useState<readonly PolicyForm[]>(
    () => tier?.policies.map(formOfPolicy) ?? [NEW_POLICY],
  );
  const doing = useDoing();
  const submit = async (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = { policies: policies.map(policyOf), weight: numberOf(weight), limiterMode };
    const answer = await doing.run(() => change("PUT", `/admin/tiers/${encodeURIComponent(name.trim())}`, body));
    if (answer?.kind === "ok") onClose();
  };
  const edit = (index: number, part: Partial<PolicyForm>) =>
    setPolicies(policies.map((policy, n) => (n === index ? { ...policy, ...part } : policy)));
  const shown = policies.flatMap(({ type }, n) => [...Object.values(faultPathsOf(type, n)), `policies.${n}.name`]);
  return (
    <Dialog title={tier === null ? "New tier" : `Change the tier ${tier.name}`} onClose={onClose}>
      <form class="stack" onSubmit={submit} onInput={doing.clear} noValidate>
        <div class="fields">
          {tier === null && (
            <TextField
              label="Name"
              hint="a–z, 0–9, _ and -"
              fault={faultAt(doing.fault, "name")}
              value={name}
              onValue={setName}
              isFirst
            />
          )}
          <TextField label="Weight" fault={faultAt(doing.fault, "weight")} numeric value={weight} onValue={setWeight} />
          <SelectField label="Decided" value={limiterMode} options={LIMITER_MODES} onValue={setLimiterMode} />
        </div>
        {policies.map((policy, index) => (
          <PolicyFields
            // Limits have no name of their own until they are saved.
            key={`${index} of ${policies.length}`}
            index={index}
            policy={policy}
            fault={doing.fault}
            onEdit={(part) => edit(index, part)}
            onRemove={policies.length === 1 ? null : () => setPolicies(policies.filter((_one, n) => n !== index))}
          />
        ))}
        <div>
          <button
            type="button"
            onClick={() => setPolicies([...policies, { ...NEW_POLICY, name: `limit-${policies.length + 1}` }])}
          >
            Add a limit
          </button>
        </div>
        <p class="muted">All limits hold together; a request is admitted when it is within every one of them.</p>
        <FaultNote fault={doing.fault} shown={["name", "weight", ...shown]} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="primary" disabled={doing.isUnderWay}>
            {tier === null ? "Make the tier" : "Change the tier"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface PolicyFieldsProps {
  readonly index: number;
  readonly policy: PolicyForm;
  readonly fault: Fault | null;
  readonly onEdit: (part: Partial<PolicyForm>) => void;
  /** Null: it is the only one. */
  readonly onRemove: (() => void) | null;
}

function PolicyFields({ index, policy, fault, onEdit, onRemove }: PolicyFieldsProps) {
  const isBucket = policy.type === "token-bucket";
  const paths = faultPathsOf(policy.type, index);
  const at = (path: string) => faultAt(fault, path);
  return (
    <fieldset>
      <legend>Limit {index + 1}</legend>
      <div class="fields">
        <SelectField label="Kind" value={policy.type} options={POLICY_TYPES} onValue={(type) => onEdit({ type })} />
        <SelectField label="For each" value={policy.scope} options={SCOPES} onValue={(scope) => onEdit({ scope })} />
        <TextField
          label="Name"
          fault={at(`policies.${index}.name`)}
          value={policy.name}
          onValue={(name) => onEdit({ name })}
        />
        <TextField
          label={isBucket ? "Requests" : "At most"}
          fault={at(paths.amount) ?? at(`${paths.amount}.tokens`)}
          numeric
          value={policy.amount}
          onValue={(amount) => onEdit({ amount })}
        />
        <TextField
          label={isBucket ? "in how many seconds" : "in a window of seconds"}
          fault={at(paths.seconds)}
          numeric
          value={policy.seconds}
          onValue={(seconds) => onEdit({ seconds })}
        />
        {isBucket && (
          <TextField
            label="Burst"
            fault={at(paths.burst)}
            numeric
            value={policy.burst}
            onValue={(burst) => onEdit({ burst })}
          />
        )}
      </div>
      {onRemove !== null && (
        <button type="button" class="danger" onClick={onRemove}>
          Take limit {index + 1} away
        </button>
      )}
    </fieldset>
  );
}
