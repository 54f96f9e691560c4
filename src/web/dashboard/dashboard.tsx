import { useCallback, useEffect, useState } from "preact/hooks";
import { Frame } from "../shared/frame.tsx";
import { lazily } from "../shared/lazily.tsx";
import type { Fault } from "./admin.ts";
import { type SignedIn, signIn, signOut, storedToken, whyNot } from "./session.ts";

/** The page: the way in, or what is seen by who is in. Each is fetched when it is needed. */

const SignIn = lazily(() => import("./sign-in.tsx").then((file) => file.SignIn));
const loadOverview = () => import("./overview.tsx").then((file) => file.Overview);
const Overview = lazily(loadOverview);

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
    // While Headgate is asked whose token it is; what is lost here is fetched again when it is shown.
    loadOverview().catch(() => undefined);
    void signIn(token).then((found) => {
      setState("token" in found ? { kind: "in", session: found } : { kind: "out", why: whyNot(found) });
    });
  }, []);
  const leave = useCallback((fault: Fault | null) => {
    signOut();
    setState({ kind: "out", why: fault && `You were signed out: the token holds no more. ${whyNot(fault)}` });
  }, []);
  if (state.kind === "in") return <Overview session={state.session} onLeave={leave} />;
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
