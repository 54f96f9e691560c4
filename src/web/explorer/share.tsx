import { useEffect, useState } from "preact/hooks";
import { linkTo } from "./address.ts";
import { commandLine, type Settings } from "./settings.ts";

/** The setting for others: as a link, and as the command that gives the same numbers. */

export function Share({ settings }: { readonly settings: Settings }) {
  return (
    <section class="card x-share" aria-labelledby="share">
      <h2 id="share">Show this to others</h2>
      <Copied label="Copy link" text={linkTo(settings)} name="The link to this setting" />
      <div>
        <p class="muted">The same on the command line:</p>
        <Copied label="Copy command" text={commandLine(settings)} name="The command that gives the same numbers" />
      </div>
    </section>
  );
}

interface CopiedProps {
  readonly label: string;
  readonly text: string;
  readonly name: string;
}

/** A text and the button that copies it. Where the browser does not let it, the text is there to be selected. */
function Copied({ label, text, name }: CopiedProps) {
  const [said, setSaid] = useState("");
  useEffect(() => setSaid(""), [text]);
  const copy = () => {
    // Only there where the page came by https or from this machine.
    const clipboard: Clipboard | undefined = navigator.clipboard;
    const done = clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
    done.then(
      () => setSaid("Copied."),
      () => setSaid("The browser does not let this page copy: select the text."),
    );
  };
  return (
    <div class="x-copied">
      <input
        type="text"
        readOnly
        aria-label={name}
        value={text}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <button type="button" onClick={copy}>
        {label}
      </button>
      <span role="status" class="muted">
        {said}
      </span>
    </div>
  );
}
