import { type Answer, askAdmin, type Fault } from "./admin.ts";
import type { Session } from "./shapes.ts";

/**
 * Who is signed in. The token is kept for this tab alone (sessionStorage), is gone with it, and is sent only as a
 * header to this host.
 */

const STORED_AS = "headgate-token";

export interface SignedIn {
  readonly token: string;
  readonly actor: Session["actor"];
}

/** The token of this tab; null: none. */
export function storedToken(): string | null {
  return sessionStorage.getItem(STORED_AS);
}

/** Asks whose token this is, and keeps it when it is somebody's. */
export async function signIn(token: string): Promise<SignedIn | Fault> {
  const answer: Answer<Session> = await askAdmin(token, "GET", "/admin/session");
  if (answer.kind !== "ok") return answer;
  sessionStorage.setItem(STORED_AS, token);
  return { token, actor: answer.body.actor };
}

export function signOut(): void {
  sessionStorage.removeItem(STORED_AS);
}

/** Why nobody is signed in, and what to do. */
export function whyNot(fault: Fault): string {
  if (fault.kind === "unreachable") return "Headgate does not answer. Check your connection, then try again.";
  const { status, retryAfterSeconds, detail } = fault;
  switch (status) {
    case 401:
      return "That is not a token of this deployment. Tokens are what `wrangler secret put ADMIN_TOKEN` and `VIEWER_TOKEN` were given; on your own machine, `npm start` prints one.";
    case 404:
      return "This deployment has no admin token, so there is nothing to sign in to. Set one with `wrangler secret put ADMIN_TOKEN`, or `VIEWER_TOKEN` for people who only look.";
    case 429:
      return `Too many wrong tokens came from your address. Try again in ${retryAfterSeconds ?? 1} s.`;
    default:
      return `${detail} Try again${retryAfterSeconds === null ? "" : ` in ${retryAfterSeconds} s`}.`;
  }
}
