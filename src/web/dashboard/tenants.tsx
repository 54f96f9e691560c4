import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { TextField } from "../shared/field.tsx";
import { lazily } from "../shared/lazily.tsx";
import { Time } from "../shared/time.tsx";
import { visible } from "../shared/visible.ts";
import { useDesk } from "./context.ts";
import { usePages } from "./pages.ts";
import { policyInWords } from "./policy-form.ts";
import { Section, Table } from "./section.tsx";
import type { Tenant, Tenants as TenantsAnswer } from "./shapes.ts";

/** Who is in which tier: a list, a way to one by its id, and a dialog for each. */

const TenantDialog = lazily(() => import("./tenant-dialog.tsx").then((file) => file.TenantDialog));
const NewTenantDialog = lazily(() => import("./new-tenant-dialog.tsx").then((file) => file.NewTenantDialog));
const ID = "tenants";
const EVERY_MS = 30_000;
const PAGE = 25;
const ROUTE = {
  path: `/admin/tenants?limit=${PAGE}`,
  everyMs: EVERY_MS,
  itemsOf: ({ tenants }: TenantsAnswer) => tenants,
  nextOf: ({ next }: TenantsAnswer) =>
    next === undefined ? null : `/admin/tenants?limit=${PAGE}&after=${encodeURIComponent(next)}`,
  keyOf: ({ id }: Tenant) => id,
};
const COLUMNS = [
  { name: "Tenant" },
  { name: "Tier" },
  { name: "Limits" },
  { name: "Status" },
  { name: "Changed" },
  { name: "Actions", isHidden: true },
];

/** Which dialog is open. */
type Open = { readonly kind: "none" } | { readonly kind: "new" } | { readonly kind: "one"; readonly id: string };

export function Tenants() {
  const { mayWrite } = useDesk();
  const { items, fault, more } = usePages<TenantsAnswer, Tenant>(ROUTE);
  const [open, setOpen] = useState<Open>({ kind: "none" });
  const close = () => setOpen({ kind: "none" });
  return (
    <Section
      id={ID}
      title="Tenants"
      actions={
        mayWrite ? (
          <button type="button" onClick={() => setOpen({ kind: "new" })}>
            New tenant
          </button>
        ) : undefined
      }
      fault={fault}
    >
      <Finder onFind={(id) => setOpen({ kind: "one", id })} />
      {items === null && fault === null && <p class="muted">Asking …</p>}
      {items?.length === 0 && (
        <p class="empty">There are none yet. {mayWrite && "Make one, and give it a key, so that it can send."}</p>
      )}
      {items !== null && items.length > 0 && (
        <Table name="Tenants" columns={COLUMNS}>
          {items.map((tenant) => (
            <Row key={tenant.id} tenant={tenant} onOpen={() => setOpen({ kind: "one", id: tenant.id })} />
          ))}
        </Table>
      )}
      {more !== null && (
        <button type="button" class="more" onClick={more}>
          Show more
        </button>
      )}
      {open.kind === "new" && <NewTenantDialog onClose={close} onMade={(id) => setOpen({ kind: "one", id })} />}
      {open.kind === "one" && <TenantDialog key={open.id} id={open.id} onClose={close} />}
    </Section>
  );
}

function Finder({ onFind }: { readonly onFind: (id: string) => void }) {
  const [id, setId] = useState("");
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (id.trim() !== "") onFind(id);
  };
  return (
    <form class="finder" onSubmit={submit}>
      <TextField label="Tenant by its id" value={id} onValue={setId} />
      <button type="submit">Open</button>
    </form>
  );
}

function Row({ tenant, onOpen }: { readonly tenant: Tenant; readonly onOpen: () => void }) {
  const { id, tier, status, limits, policies, updatedAt } = tenant;
  return (
    <tr>
      <th scope="row" class="name">
        {visible(id)}
      </th>
      <td>{tier}</td>
      <td class="num-left">
        {policies.map((policy) => (
          <div key={policy.name}>{policyInWords(policy)}</div>
        ))}
        {limits !== null && <span class="muted">its own</span>}
      </td>
      <td>
        <span class="badge" data-tone={status === "active" ? "ok" : "warn"}>
          {status}
        </span>
      </td>
      <td>
        <Time at={updatedAt} />
      </td>
      <td>
        <div class="buttons row-actions">
          <button type="button" onClick={onOpen}>
            Open<span class="visually-hidden"> {visible(id)}</span>
          </button>
        </div>
      </td>
    </tr>
  );
}
