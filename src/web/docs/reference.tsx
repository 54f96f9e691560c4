import { useEffect, useState } from "preact/hooks";
import { CredentialFields, CredentialsContext, NO_CREDENTIALS } from "./credentials.tsx";
import { type ApiDocument, groupsOf } from "./document.ts";
import { OperationCard } from "./operation.tsx";
import { Members } from "./schema.tsx";
import { Sidebar } from "./sidebar.tsx";
import { Inline, Text } from "./text.tsx";

/** The whole page, once the document is there. */

type Loaded =
  | { readonly state: "under way" }
  | { readonly state: "lost"; readonly why: string }
  | { readonly state: "there"; readonly document: ApiDocument };

export function Reference() {
  const [loaded, setLoaded] = useState<Loaded>({ state: "under way" });
  const load = () => {
    setLoaded({ state: "under way" });
    readDocument().then(setLoaded);
  };
  useEffect(load, []);
  switch (loaded.state) {
    case "under way":
      return (
        <div class="d-content">
          <h1>API</h1>
          <p class="muted" role="status">
            Reading /openapi.json …
          </p>
        </div>
      );
    case "lost":
      return (
        <div class="d-content">
          <h1>API</h1>
          <p class="notice" data-tone="bad" role="alert">
            {loaded.why}
          </p>
          <p>
            <button type="button" onClick={load}>
              Try again
            </button>
          </p>
        </div>
      );
    case "there":
      return <Shown document={loaded.document} />;
  }
}

async function readDocument(): Promise<Loaded> {
  try {
    const answer = await fetch("/openapi.json");
    if (!answer.ok) return { state: "lost", why: `/openapi.json was answered with ${answer.status}.` };
    return { state: "there", document: await answer.json() };
  } catch {
    return { state: "lost", why: "/openapi.json cannot be read: no answer came. Is the gateway there?" };
  }
}

function Shown({ document }: { readonly document: ApiDocument }) {
  const [credentials, setCredentials] = useState(NO_CREDENTIALS);
  const groups = groupsOf(document);
  const { info } = document;
  // The browser looked for the place that the address names before it was there.
  useEffect(() => window.document.getElementById(location.hash.slice(1))?.scrollIntoView(), []);
  return (
    <CredentialsContext.Provider value={credentials}>
      <div class="d-page">
        <Sidebar groups={groups} />
        <div class="d-content">
          <header class="d-intro">
            <h1>{info.title} API</h1>
            <p class="muted">
              Version {info.version}, {info.license.name} licence, as <a href="/openapi.json">/openapi.json</a> (OpenAPI
              3.1).
            </p>
            <Text text={info.description} />
          </header>
          <section class="card d-about" aria-labelledby="credentials">
            <h2 id="credentials">Who is asking</h2>
            <Described parts={document.components.securitySchemes} />
            <p>To try requests that read, from this page:</p>
            <CredentialFields credentials={credentials} onCredentials={setCredentials} />
          </section>
          {groups.map(({ name, description, routes }) => (
            <section key={name} class="d-group" aria-labelledby={`tag-${name}`}>
              <h2 id={`tag-${name}`}>{name}</h2>
              <p class="muted">
                <Inline text={description} />
              </p>
              {routes.map((route) => (
                <OperationCard key={route.operation.operationId} document={document} route={route} />
              ))}
            </section>
          ))}
          <Common document={document} />
        </div>
      </div>
    </CredentialsContext.Provider>
  );
}

/** What routes have in common: how they say no, and the headers of their answers. */
function Common({ document }: { readonly document: ApiDocument }) {
  return (
    <>
      <section class="card d-about" aria-labelledby="problem">
        <h2 id="problem">Every answer that is no success</h2>
        <p>
          <code>application/problem+json</code>: programs decide by <code>code</code>.
        </p>
        <Members document={document} schema={{ $ref: "#/components/schemas/Problem" }} />
      </section>
      <section class="card d-about" aria-labelledby="headers">
        <h2 id="headers">Headers of answers</h2>
        <Described parts={document.components.headers} />
      </section>
    </>
  );
}

/** Parts of the document by name, each with what it says of itself. */
function Described({ parts }: { readonly parts: Readonly<Record<string, { readonly description: string }>> }) {
  return (
    <dl class="d-schemes">
      {Object.entries(parts).map(([name, { description }]) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <Inline text={description} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
