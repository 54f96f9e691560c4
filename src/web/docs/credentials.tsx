import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { TextField } from "../shared/field.tsx";
import type { Operation } from "./document.ts";

/** Credentials for trying things out. They are in this page's memory and nowhere else: reloading forgets them. */

export interface Credentials {
  readonly tenant: string;
  readonly operator: string;
}

export const NO_CREDENTIALS: Credentials = { tenant: "", operator: "" };

export const CredentialsContext = createContext<Credentials>(NO_CREDENTIALS);

interface CredentialFieldsProps {
  readonly credentials: Credentials;
  readonly onCredentials: (credentials: Credentials) => void;
}

export function CredentialFields({ credentials, onCredentials }: CredentialFieldsProps) {
  return (
    <div class="d-credentials">
      <TextField
        label="A tenant's key"
        hint="For /v1 and /v2. Kept in this page's memory, and gone when it is reloaded."
        type="password"
        autoComplete="off"
        value={credentials.tenant}
        onValue={(tenant) => onCredentials({ ...credentials, tenant })}
      />
      <TextField
        label="An operator's token"
        hint="For /admin: the admin token, or the viewer's."
        type="password"
        autoComplete="off"
        value={credentials.operator}
        onValue={(operator) => onCredentials({ ...credentials, operator })}
      />
      <p class="muted">
        The commands to copy take them from your shell: <code>export TENANT_KEY=…; export ADMIN_TOKEN=…</code> before
        the first of them.
      </p>
    </div>
  );
}

/** The headers that say who is asking, as far as this page was told. */
export function useCredentialHeaders({ security = [] }: Operation): Readonly<Record<string, string>> {
  const { tenant, operator } = useContext(CredentialsContext);
  const names = security.flatMap((one) => Object.keys(one));
  const credential = names.includes("adminToken") ? operator : names.includes("tenantKey") ? tenant : "";
  return credential === "" ? {} : { Authorization: `Bearer ${credential}` };
}
