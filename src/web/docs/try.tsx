import { useState } from "preact/hooks";
import { TextField } from "../shared/field.tsx";
import { useCredentialHeaders } from "./credentials.tsx";
import type { Parameter, Route } from "./document.ts";
import { addressOf, type ShownRequest } from "./requests.ts";

/** A request that changes nothing, sent from the page: what it is answered is shown as it came. */

type Sent =
  | { readonly state: "none" }
  | { readonly state: "under way" }
  | { readonly state: "lost"; readonly why: string }
  | { readonly state: "answered"; readonly status: string; readonly headers: string; readonly body: string };

export function Try({ route, shown }: { readonly route: Route; readonly shown: ShownRequest }) {
  const { path, operation } = route;
  const parameters = (operation.parameters ?? []).filter(({ in: part }) => part !== "header");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({ ...shown.query, ...shown.path });
  const [sent, setSent] = useState<Sent>({ state: "none" });
  const headers = useCredentialHeaders(operation);
  const send = async (event: Event) => {
    event.preventDefault();
    setSent({ state: "under way" });
    setSent(await ask(addressOf(path, partsOf(parameters, values)), headers));
  };
  return (
    <details class="d-fold">
      <summary>Try it</summary>
      <form class="d-try" onSubmit={send}>
        {parameters.map(({ name, required }) => (
          <TextField
            key={name}
            label={required ? `${name} (required)` : name}
            value={values[name] ?? ""}
            onValue={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
        <div>
          <button type="submit" class="primary" disabled={sent.state === "under way"}>
            Send {operation.operationId}
          </button>
        </div>
      </form>
      <div role="status">
        <Outcome sent={sent} />
      </div>
    </details>
  );
}

function partsOf(parameters: readonly Parameter[], values: Readonly<Record<string, string>>) {
  const of = (part: Parameter["in"]) =>
    Object.fromEntries(parameters.filter((one) => one.in === part).map(({ name }) => [name, values[name] ?? ""]));
  return { path: of("path"), query: of("query") };
}

async function ask(address: string, headers: Readonly<Record<string, string>>): Promise<Sent> {
  try {
    const answer = await fetch(address, { headers, credentials: "omit", cache: "no-store" });
    const text = await answer.text();
    const told = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    return {
      state: "answered",
      status: `${answer.status} ${answer.statusText}`.trim(),
      headers: told,
      body: pretty(text),
    };
  } catch {
    return { state: "lost", why: "No answer came. Is the gateway there?" };
  }
}

/** JSON over several lines; anything else as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Outcome({ sent }: { readonly sent: Sent }) {
  switch (sent.state) {
    case "none":
      return null;
    case "under way":
      return <p class="muted">Asking …</p>;
    case "lost":
      return (
        <p class="notice" data-tone="bad">
          {sent.why}
        </p>
      );
    case "answered":
      return (
        <div class="d-outcome">
          <p>
            Answered <strong>{sent.status}</strong>
          </p>
          <pre class="d-code">{sent.headers}</pre>
          {sent.body !== "" && <pre class="d-code">{sent.body}</pre>}
        </div>
      );
  }
}
