import { Audit } from "./audit.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { FlowControl } from "./flow-control.tsx";
import { Tenants } from "./tenants.tsx";
import { Tiers } from "./tiers.tsx";

/** What is further down the page: what can be mended and changed, and who did. Fetched when somebody comes near it. */
export function Further() {
  return (
    <>
      <DeadLetters />
      <FlowControl />
      <Tiers />
      <Tenants />
      <Audit />
    </>
  );
}
