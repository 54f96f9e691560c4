import { Audit } from "./audit.tsx";
import { FlowControl } from "./flow-control.tsx";
import { Tenants } from "./tenants.tsx";
import { Tiers } from "./tiers.tsx";

/** What changes limits, and who did: below what is urgent, and fetched when somebody comes near it. */
export function Administration() {
  return (
    <>
      <FlowControl />
      <Tiers />
      <Tenants />
      <Audit />
    </>
  );
}
