import type { Context } from "hono";
import type { AppEnv } from "./app-env.ts";

/**
 * How an answer comes by the headers that every route's has: they are noted while the request goes its way, and put on
 * when the answer is made, all at once. Each header that is put on a finished response costs as much as the rest of a
 * decision.
 */

/** Headers by name. */
export type Headings = Record<string, string>;

/** Notes a header for whatever this request is answered with. The last one of a name holds. */
export function note(c: Context<AppEnv>, name: string, value: string): void {
  c.get("noted")[name] = value;
}

/** Notes request headers that the answer depends on. */
export function noteVary(c: Context<AppEnv>, names: string): void {
  const { Vary: before } = c.get("noted");
  note(c, "Vary", before === undefined ? names : `${before}, ${names}`);
}

/** Makes the answer, with everything that was noted. */
export function answer(
  c: Context<AppEnv>,
  status: number,
  contentType: string,
  body: string,
  headings: Headings = {},
): Response {
  const headers = Object.assign({ "Content-Type": contentType }, c.get("noted"), headings);
  const response = new Response(body, { status, headers });
  c.set("whole", response);
  return response;
}

/** What servers note for a client that closed its connection. It goes out to no caller. */
const CLIENT_CLOSED_STATUS = 499;

/** The answer to a caller that has hung up. */
export function answerClosed(c: Context<AppEnv>): Response {
  return answer(c, CLIENT_CLOSED_STATUS, "text/plain", "");
}

/** As {@link answer}, of JSON. */
export function answerJson(c: Context<AppEnv>, body: unknown, status = 200, headings: Headings = {}): Response {
  return answer(c, status, "application/json", JSON.stringify(body), headings);
}

/** Puts what was noted on an answer that was made in another way. */
export function completeAnswer(c: Context<AppEnv>): void {
  const { res } = c;
  if (c.get("whole") === res) return;
  // Those of a fetched response cannot be changed.
  const complete = new Response(res.body, res);
  for (const [name, value] of Object.entries(c.get("noted"))) {
    if (name === "Vary") complete.headers.append(name, value);
    else complete.headers.set(name, value);
  }
  c.res = undefined;
  c.res = complete;
}

/** The path of a request as it was sent, without its query. */
export function pathOf(c: Context<AppEnv>): string {
  const { url } = c.req;
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.indexOf("?", start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}
