import { useCallback, useEffect, useState } from "preact/hooks";
import { Frame } from "../shared/frame.tsx";
import { lazily, WhenNear } from "../shared/lazily.tsx";
import type { Fault } from "./admin.ts";
import { DeskContext, useNewDesk } from "./context.ts";
import { DeadLetters } from "./dead-letters.tsx";
import { Live } from "./live.tsx";
import { type SignedIn, signIn, signOut, storedToken, whyNot } from "./session.ts";
import { TopTenants } from "./top-tenants.tsx";

/** The page: who is signed in, and what they see, the most urgent first. */

const SignIn = lazily(() => import("./sign-in.tsx").then((file) => file.SignIn));
const Administration = lazily(() => import("./administration.tsx").then((file) => file.Administration));

type State =
  | { readonly kind: "asking" }
  | { readonly kind: "out"; readonly why: string | null }
  | { readonly kind: "in"; readonly session: SignedIn };

export function Dashboard() {
  const [state, setState] = useState<State>(() =>
    storedToken() === null ? { kind: "out", why: null } : { kind: "asking" },
  );
  useEffect(() => {
    const token = storedToken();
    if (token === null) return;
    void signIn(token).then((found) => {
      setState("token" in found ? { kind: "in", session: found } : { kind: "out", why: whyNot(found) });
    });
  }, []);
  const leave = useCallback((fault: Fault | null) => {
    signOut();
    setState({ kind: "out", why: fault && `You were signed out: the token holds no more. ${whyNot(fault)}` });
  }, []);
  if (state.kind === "in") return <SignedInPage session={state.session} onLeave={leave} />;
  return (
    <Frame current="/dashboard">
      {state.kind === "asking" ? (
        <p class="muted">Asking whose token this is …</p>
      ) : (
        <SignIn key={state.why} why={state.why} onSignedIn={(session) => setState({ kind: "in", session })} />
      )}
    </Frame>
  );
}

interface SignedInPageProps {
  readonly session: SignedIn;
  readonly onLeave: (fault: Fault | null) => void;
}

function SignedInPage({ session, onLeave }: SignedInPageProps) {
  const desk = useNewDesk(session, onLeave);
  return (
    <DeskContext.Provider value={desk}>
      <Frame
        current="/dashboard"
        aside={
          <>
            <span class="badge">{session.actor === "admin" ? "Admin" : "Viewer, read only"}</span>
            <button type="button" class="quiet" onClick={() => onLeave(null)}>
              Sign out
            </button>
          </>
        }
      >
        <h1 class="visually-hidden">Dashboard</h1>
        <Live />
        <TopTenants />
        <DeadLetters />
        <WhenNear>
          <Administration />
        </WhenNear>
      </Frame>
    </DeskContext.Provider>
  );
}
