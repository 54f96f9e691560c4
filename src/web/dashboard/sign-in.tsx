import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { TextField } from "../shared/field.tsx";
import { type SignedIn, signIn, whyNot } from "./session.ts";

/** The way in: one field for a token. */

export interface SignInProps {
  /** Why somebody is here who was signed in. */
  readonly why: string | null;
  readonly onSignedIn: (session: SignedIn) => void;
}

export function SignIn({ why, onSignedIn }: SignInProps) {
  const [token, setToken] = useState("");
  const [fault, setFault] = useState(why);
  const [isUnderWay, setUnderWay] = useState(false);
  const submit = async (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = token.trim();
    if (given === "") return setFault("Type the admin token or the viewer token.");
    setUnderWay(true);
    const found = await signIn(given);
    setUnderWay(false);
    if ("token" in found) onSignedIn(found);
    else setFault(whyNot(found));
  };
  return (
    <section class="card sign-in">
      <h1>Dashboard</h1>
      <p class="muted">
        What the queue is doing, and the controls for it. The admin token may change things, the viewer token may look.
      </p>
      <form class="stack" onSubmit={submit} noValidate>
        <TextField
          label="Token"
          type="password"
          hint="Kept in this tab only, and sent to this host only."
          value={token}
          onValue={setToken}
          isFirst
          autoComplete="off"
        />
        <div role="alert">
          {fault !== null && (
            <p class="notice" data-tone="bad">
              {fault}
            </p>
          )}
        </div>
        <div class="buttons">
          <button type="submit" class="primary" disabled={isUnderWay}>
            Sign in
          </button>
        </div>
      </form>
    </section>
  );
}
