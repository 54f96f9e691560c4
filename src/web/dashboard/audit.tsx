import { Time } from "../shared/time.tsx";
import { visible } from "../shared/visible.ts";
import { usePages } from "./pages.ts";
import { Section, Table } from "./section.tsx";
import type { AuditEntry, Audit as AuditPage } from "./shapes.ts";

/** Who changed what, when: the newest first. */

const ID = "audit";
const EVERY_MS = 15_000;
const PAGE = 10;
const ROUTE = {
  path: `/admin/audit?limit=${PAGE}`,
  everyMs: EVERY_MS,
  itemsOf: ({ entries }: AuditPage) => entries,
  nextOf: ({ next }: AuditPage) => (next === undefined ? null : `/admin/audit?limit=${PAGE}&before=${next}`),
  keyOf: ({ id }: AuditEntry) => id,
};

export function Audit() {
  const { items, fault, more } = usePages<AuditPage, AuditEntry>(ROUTE);
  return (
    <Section id={ID} title="Last changes" fault={fault}>
      {items === null && fault === null && <p class="muted">Asking …</p>}
      {items?.length === 0 && <p class="empty">Nothing was changed yet.</p>}
      {items !== null && items.length > 0 && (
        <Table
          name="Last changes"
          columns={[{ name: "When" }, { name: "What" }, { name: "Of" }, { name: "How" }, { name: "By" }]}
        >
          {items.map(({ id, at, actor, action, target, detail }) => (
            <tr key={id}>
              <td>
                <Time at={at} />
              </td>
              <th scope="row" class="name">
                {action}
              </th>
              <td class="name">{visible(target)}</td>
              <td class="why">
                <code>{Object.keys(detail).length === 0 ? "" : JSON.stringify(detail)}</code>
              </td>
              <td>{actor}</td>
            </tr>
          ))}
        </Table>
      )}
      {more !== null && (
        <button type="button" class="more" onClick={more}>
          Show more
        </button>
      )}
    </Section>
  );
}
