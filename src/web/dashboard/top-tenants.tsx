import { whole } from "../shared/numbers.ts";
import { visible } from "../shared/visible.ts";
import { useReading } from "./context.ts";
import { Section, Table } from "./section.tsx";
import type { TenantUse, Usage } from "./shapes.ts";

/** Who used most, and who was refused most, in the last hour. Limits' usage comes in batches. */

const PATH = "/admin/usage?minutes=60&top=10";
const EVERY_MS = 15_000;

export function TopTenants() {
  const { value: usage, fault } = useReading<Usage>(PATH, EVERY_MS);
  return (
    <Section
      id="top-tenants"
      title="Top tenants, last hour"
      about={
        usage === null
          ? "Asking …"
          : `${whole(usage.admitted)} requests were admitted by tenants' own limits and ${whole(usage.refused)} refused. Figures come in batches, up to a minute and a half late.`
      }
      fault={fault}
    >
      <div class="two">
        <Ranking title="By use" tenants={usage?.topByUse ?? null} none="Nobody has sent anything." />
        <Ranking title="By refusals" tenants={usage?.topByRefusals ?? null} none="Nobody was over their own limit." />
      </div>
    </Section>
  );
}

interface RankingProps {
  readonly title: string;
  /** Null before the first answer. */
  readonly tenants: readonly TenantUse[] | null;
  readonly none: string;
}

function Ranking({ title, tenants, none }: RankingProps) {
  return (
    <div>
      <h3>{title}</h3>
      {tenants?.length === 0 && <p class="muted">{none}</p>}
      {tenants !== null && tenants.length > 0 && (
        <Table name={title} columns={COLUMNS}>
          {tenants.map(({ tenant, tier, admitted, refused }) => (
            <tr key={tenant}>
              <th scope="row" class="name">
                {visible(tenant)}
              </th>
              <td class="muted">{tier}</td>
              <td class="num">{whole(admitted)}</td>
              <td class="num">{whole(refused)}</td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}

const COLUMNS = [
  { name: "Tenant" },
  { name: "Tier" },
  { name: "Admitted", isNumber: true },
  { name: "Refused", isNumber: true },
];
