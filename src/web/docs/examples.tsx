import { useState } from "preact/hooks";
import type { ApiDocument, Route } from "./document.ts";
import { curlOf, FILE_NAME, fileOf, requestsOf, type ShownRequest } from "./requests.ts";
import { Inline } from "./text.tsx";
import { Try } from "./try.tsx";

/** A route's examples: each as a command to copy, with what it is answered. */

export function Examples({ document, route }: { readonly document: ApiDocument; readonly route: Route }) {
  const requests = requestsOf(document, route);
  return (
    <div class="d-examples">
      {requests.map((request, n) => (
        <details key={request.name} class="d-fold" open={n === 0}>
          <summary>{request.summary === "" ? "As a command" : <Inline text={request.summary} />}</summary>
          <OneExample route={route} request={request} />
        </details>
      ))}
      {route.method === "GET" && requests[0] !== undefined && <Try route={route} shown={requests[0]} />}
    </div>
  );
}

function OneExample({ route, request }: { readonly route: Route; readonly request: ShownRequest }) {
  const command = curlOf(location.origin, route, request);
  const { status, isBodiless, answer } = request;
  return (
    <>
      <File body={request.body} />
      <Copied text={command} name={`${route.operation.operationId} ${request.name}`.trim()} />
      <p class="d-answered">
        <span class="badge" data-tone="ok">
          {status}
        </span>{" "}
        {isBodiless && <span class="muted">without a body</span>}
      </p>
      {answer !== undefined && (
        <pre class="d-code">{typeof answer === "string" ? answer : JSON.stringify(answer, null, 2)}</pre>
      )}
    </>
  );
}

/** What is in the file that the command sends. */
function File({ body }: { readonly body: ShownRequest["body"] | undefined }) {
  const text = body === undefined ? null : fileOf(body);
  return text === null ? null : (
    <details class="d-fold">
      <summary>{FILE_NAME}</summary>
      <pre class="d-code">{text}</pre>
    </details>
  );
}

/** A command, and the button that copies it. Where the browser does not let it, the text is there to be selected. */
function Copied({ text, name }: { readonly text: string; readonly name: string }) {
  const [said, setSaid] = useState("");
  const copy = () => {
    // Only there where the page came by https or from this machine.
    const clipboard: Clipboard | undefined = navigator.clipboard;
    const done = clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
    done.then(
      () => setSaid("Copied."),
      () => setSaid("Select the text: the browser does not let this page copy."),
    );
  };
  return (
    <div class="d-command">
      <pre class="d-code">{text}</pre>
      <p>
        <button type="button" aria-label={`Copy as curl: ${name}`} onClick={copy}>
          Copy as curl
        </button>
        <span role="status" class="muted">
          {said}
        </span>
      </p>
    </div>
  );
}
