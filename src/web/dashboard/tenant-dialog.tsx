import type { ComponentChildren } from "preact";
import { Dialog } from "../shared/dialog.tsx";
import { duration, whole } from "../shared/numbers.ts";
import { Time } from "../shared/time.tsx";
import { visible } from "../shared/visible.ts";
import { ActionButton } from "./action.tsx";
import { inWords } from "./admin.ts";
import { useDesk, useReading } from "./context.ts";
import { Keys } from "./keys.tsx";
import { policyInWords } from "./policy-form.ts";
import type { Tenant, TenantUsage } from "./shapes.ts";
import { OwnLimitsForm, PlaceForm } from "./tenant-forms.tsx";
import { tenantPath } from "./tenant-path.ts";

/** One tenant: what it goes by and has used, and everything that can be done about it. */

const EVERY_MS = 10_000;

export function TenantDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { mayWrite } = useDesk();
  const { value: tenant, fault } = useReading<Tenant>(tenantPath(id), EVERY_MS);
  const isUnknown = fault?.kind === "problem" && fault.status === 404;
  return (
    <Dialog title={`Tenant ${visible(id)}`} onClose={onClose}>
      {fault !== null && (
        <p class="notice" data-tone="warn">
          {isUnknown ? "There is no such tenant. Ids are told apart by case." : inWords(fault)}
        </p>
      )}
      {tenant === null && fault === null && <p class="muted">Asking …</p>}
      {tenant !== null && (
        <div class="stack parts">
          <Part title="Limits and use">
            <p class="num">
              {tenant.policies.map(policyInWords).join("; ")} <span class="muted">({whose(tenant)})</span>
            </p>
            <Use id={id} />
          </Part>
          {mayWrite && (
            <>
              <PlaceForm tenant={tenant} />
              <OwnLimitsForm tenant={tenant} />
            </>
          )}
          <Keys tenant={id} />
          {mayWrite && <Ends tenant={tenant} onClose={onClose} />}
        </div>
      )}
    </Dialog>
  );
}

function whose({ limits, tier }: Tenant): string {
  return limits === null ? `of the tier ${tier}` : `its own, in place of ${tier}'s`;
}

export function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="stack part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

const MINUTES = 60;

function Use({ id }: { readonly id: string }) {
  const { value: usage, fault } = useReading<TenantUsage>(tenantPath(id, `/usage?minutes=${MINUTES}`), EVERY_MS);
  if (usage === null) return <p class="muted">{fault === null ? "Asking …" : inWords(fault)}</p>;
  const { minutes } = usage;
  const sum = (of: "admitted" | "refused") => whole(minutes.reduce((total, minute) => total + minute[of], 0));
  return (
    <>
      <p class="num">
        Last {duration(MINUTES * 60)}: {sum("admitted")} admitted, {sum("refused")} refused. In all:{" "}
        {whole(usage.admitted)} admitted, {whole(usage.refused)} refused, since <Time at={usage.since} />
      </p>
      <p class="muted">A restart loses what was not yet written down: a minute at most.</p>
    </>
  );
}

/** What forgives everything, and what ends everything. */
function Ends({ tenant: { id }, onClose }: { readonly tenant: Tenant; readonly onClose: () => void }) {
  const { ask, change, changed } = useDesk();
  // Nothing of it is read again: it is not there any more.
  const leave = () => {
    onClose();
    changed();
  };
  return (
    <Part title="Reset and delete">
      <div class="buttons">
        <ActionButton
          label="Reset"
          about={visible(id)}
          question={{
            title: `Forgive what ${visible(id)} owes?`,
            text: "Its buckets are full again at once: it may send its whole burst.",
          }}
          run={() => change("POST", tenantPath(id, "/reset"))}
        />
        <ActionButton
          label="Delete the tenant"
          about={visible(id)}
          tone="danger"
          question={{
            title: `Delete the tenant ${visible(id)}?`,
            text: "Its keys stop working and its limits are gone. Commands that were accepted still run. This cannot be undone.",
          }}
          run={() => ask("DELETE", tenantPath(id))}
          after={leave}
        />
      </div>
    </Part>
  );
}
