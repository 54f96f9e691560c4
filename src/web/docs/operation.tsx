import { type ApiDocument, answerOf, type Operation, type Parameter, type Route, whole } from "./document.ts";
import { Examples } from "./examples.tsx";
import { Bounds, hasParts, Members, typeText } from "./schema.tsx";
import { Inline, Text } from "./text.tsx";

/** One route: what it is, what it takes, what it gives and what else it may say, with examples beside it. */

interface Placed {
  readonly document: ApiDocument;
  readonly route: Route;
}

export function OperationCard({ document, route }: Placed) {
  const { method, path, operation } = route;
  const { operationId, summary, description } = operation;
  return (
    <article class="card d-operation" id={operationId} aria-labelledby={`${operationId}-title`}>
      <header class="d-head">
        <h3 id={`${operationId}-title`}>
          <Inline text={summary} />
        </h3>
        <p class="d-line">
          <Method method={method} /> <code class="d-path">{path}</code>
          <a class="d-anchor" href={`#${operationId}`}>
            Link<span class="visually-hidden"> to {operationId}</span>
          </a>
        </p>
      </header>
      <div class="d-columns">
        <div class="d-about">
          {description !== undefined && <Text text={description} />}
          <Who operation={operation} />
          <Parameters document={document} parameters={operation.parameters ?? []} />
          <Body document={document} operation={operation} />
          <Answers document={document} operation={operation} />
        </div>
        <Examples document={document} route={route} />
      </div>
    </article>
  );
}

export function Method({ method }: { readonly method: string }) {
  return (
    <span class="d-method" data-method={method}>
      {method}
    </span>
  );
}

/** Whose credential it takes, in a line. */
function Who({ operation: { security = [], servers = [] } }: { readonly operation: Operation }) {
  const names = security.flatMap((one) => Object.keys(one));
  const isOptional = security.length === 0 || security.some((one) => Object.keys(one).length === 0);
  const who = names.includes("viewerToken")
    ? "the admin's or the viewer's token"
    : names.includes("adminToken")
      ? "the admin's token"
      : names.length > 0
        ? "a tenant's credential"
        : null;
  const also = servers.find(({ url }) => url !== "/");
  return (
    <p class="muted">
      {who === null ? "Takes no credential." : `Takes ${who}${isOptional ? ", or none" : ""}.`}
      {also !== undefined && (
        <>
          {" "}
          Also behind <code>{also.url}</code>.
        </>
      )}
    </p>
  );
}

function Parameters({ document, parameters }: { document: ApiDocument; parameters: readonly Parameter[] }) {
  if (parameters.length === 0) return null;
  return (
    <section>
      <h4>Parameters</h4>
      <ul class="d-members">
        {parameters.map((parameter) => (
          <li key={parameter.name}>
            <div class="d-member">
              <code class="d-name">{parameter.name}</code>{" "}
              <span class="d-type">
                {typeText(document, parameter.schema)} in the {parameter.in}
              </span>
              {parameter.required && <span class="d-required">required</span>}
            </div>
            {parameter.description !== undefined && (
              <p class="d-words">
                <Inline text={parameter.description} />
              </p>
            )}
            <Bounds schema={whole(document, parameter.schema)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Body({ document, operation: { requestBody } }: { document: ApiDocument; operation: Operation }) {
  if (requestBody === undefined) return null;
  return (
    <section>
      <h4>Body{requestBody.required === true ? "" : " (may be left out)"}</h4>
      {Object.entries(requestBody.content).map(([type, { schema }]) => (
        <div key={type}>
          <p class="d-type">{type}</p>
          <Members document={document} schema={schema} />
        </div>
      ))}
    </section>
  );
}

function Answers({ document, operation }: { document: ApiDocument; operation: Operation }) {
  const answers = Object.entries(operation.responses).map(([status, one]) => ({ status, ...answerOf(document, one) }));
  const [yes, no] = [answers.filter(({ status }) => status < "4"), answers.filter(({ status }) => status >= "4")];
  return (
    <section>
      <h4>Answers</h4>
      {yes.map(({ status, description, headers = {}, content = {} }) => (
        <div key={status} class="d-answer">
          <p>
            <span class="badge" data-tone="ok">
              {status}
            </span>{" "}
            <Inline text={description} />
          </p>
          <Headers names={Object.keys(headers)} />
          {Object.entries(content).map(([type, { schema }]) =>
            hasParts(document)(schema) ? (
              <details key={type} class="d-fold">
                <summary>
                  {type}
                  <span class="visually-hidden"> of {status}</span>
                </summary>
                <Members document={document} schema={schema} />
              </details>
            ) : (
              <p key={type} class="d-type">
                {type}
              </p>
            ),
          )}
        </div>
      ))}
      {no.length > 0 && (
        <details class="d-fold">
          <summary>What else may be said: {no.map(({ status }) => status).join(", ")}</summary>
          {no.map(({ status, description, headers = {} }) => (
            <div key={status} class="d-answer d-refusal">
              <span class="badge" data-tone={status < "5" ? "warn" : "bad"}>
                {status}
              </span>
              <div>
                <Text text={description} />
                <Headers names={Object.keys(headers)} />
              </div>
            </div>
          ))}
        </details>
      )}
    </section>
  );
}

function Headers({ names }: { readonly names: readonly string[] }) {
  // On every answer, or nearly: said once, where headers are explained. The older three for limits are told as one.
  const own = names.filter((name) => !/^(X-Request-Id|Cache-Control|X-RateLimit-(Remaining|Reset))$/.test(name));
  return own.length === 0 ? null : (
    <p class="d-words muted">
      <a href="#headers">Headers</a>: {own.map((name) => name.replace("X-RateLimit-Limit", "X-RateLimit-*")).join(", ")}
    </p>
  );
}
