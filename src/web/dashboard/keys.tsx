import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { TextField } from "../shared/field.tsx";
import { Time } from "../shared/time.tsx";
import { ActionButton, FaultNote, faultAt, useDoing } from "./action.tsx";
import { inWords } from "./admin.ts";
import { useDesk, useReading } from "./context.ts";
import type { ApiKey, NewApiKey } from "./shapes.ts";
import { Part } from "./tenant-dialog.tsx";
import { tenantPath } from "./tenant-path.ts";

/** A tenant's keys. A new key's secret is shown once, here, and is held nowhere after that. */

const EVERY_MS = 30_000;

export function Keys({ tenant }: { readonly tenant: string }) {
  const { mayWrite, change } = useDesk();
  const path = tenantPath(tenant, "/keys");
  const { value, fault } = useReading<{ readonly keys: readonly ApiKey[] }>(path, EVERY_MS);
  return (
    <Part title="Keys">
      {fault !== null && <p class="muted">{inWords(fault)}</p>}
      {value?.keys.length === 0 && <p class="muted">It has none, and can send nothing with one.</p>}
      <ul class="keys">
        {value?.keys.map(({ keyId, name, createdAt, expiresAt }) => (
          <li key={keyId}>
            <div>
              <b>{name ?? "unnamed"}</b> <code class="muted">{keyId}</code>
              <div class="muted">
                made <Time at={createdAt} />
                {expiresAt !== null && (
                  <>
                    , ends <Time at={expiresAt} />
                  </>
                )}
              </div>
            </div>
            {mayWrite && (
              <ActionButton
                label="Revoke"
                about={name ?? keyId}
                tone="danger"
                question={{
                  title: "Revoke this key?",
                  text: "Whoever uses it gets 401, within seconds everywhere. It cannot be brought back.",
                }}
                run={() => change("DELETE", `${path}/${encodeURIComponent(keyId)}`)}
              />
            )}
          </li>
        ))}
      </ul>
      {mayWrite && <NewKeyForm path={path} />}
    </Part>
  );
}

function NewKeyForm({ path }: { readonly path: string }) {
  const { change } = useDesk();
  const [name, setName] = useState("");
  const [expires, setExpires] = useState("");
  const [made, setMade] = useState<NewApiKey | null>(null);
  const doing = useDoing();
  const submit = async (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = {
      ...(name.trim() === "" ? {} : { name: name.trim() }),
      ...(expires === "" ? {} : { expiresAt: new Date(expires).toISOString() }),
    };
    const answer = await doing.run(() => change<NewApiKey>("POST", path, body));
    if (answer?.kind === "ok") setMade(answer.body);
  };
  if (made !== null) return <Secret made={made} onDone={() => setMade(null)} />;
  return (
    <form class="stack" onSubmit={submit} onInput={doing.clear} noValidate>
      <div class="fields">
        <TextField
          label="Name"
          hint="For people who look at this list."
          fault={faultAt(doing.fault, "name")}
          value={name}
          onValue={setName}
        />
        <TextField
          label="Ends"
          type="datetime-local"
          hint="Empty: never."
          fault={faultAt(doing.fault, "expiresAt")}
          value={expires}
          onValue={setExpires}
        />
      </div>
      <FaultNote fault={doing.fault} shown={["name", "expiresAt"]} />
      <div class="buttons">
        <button type="submit" disabled={doing.isUnderWay}>
          Make a key
        </button>
      </div>
    </form>
  );
}

function Secret({ made, onDone }: { readonly made: NewApiKey; readonly onDone: () => void }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(made.key);
      setSaid("Copied.");
    } catch {
      setSaid("The browser does not let this page copy. Select the key and copy it yourself.");
    }
  };
  return (
    <div class="notice stack" data-tone="warn" role="status">
      <p>
        <b>This is the only time that this key is shown.</b> Hand it over now; it is stored as a hash.
      </p>
      <code class="secret">{made.key}</code>
      <div class="buttons">
        <button type="button" onClick={copy}>
          Copy
        </button>
        <button type="button" class="primary" onClick={onDone}>
          I have it
        </button>
      </div>
      <p class="muted">{said}</p>
    </div>
  );
}
