import type { Caller } from "../identity/caller.ts";
import type { Headings } from "./answer.ts";

/** What Hono carries through a request: the Worker's bindings, and what each middleware found. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    /** Names the request in its answer and in the logs. */
    requestId: string;
    /** The time of this request, Unix milliseconds, taken once. */
    nowMs: number;
    /** Headers for whatever is answered; see answer.ts. */
    noted: Headings;
    /** The answer that has them. */
    whole: Response;
    /** Set on `/v1` routes. */
    caller: Caller;
    /** Set on `/admin` routes: whose token it was. */
    actor: "admin" | "viewer";
    /** The JSON body of the request, as it was sent; not set where there is none. */
    bodyText?: string;
    /** What was decided about the request so far, in a word: `allowed`, or the code of why not. Absent: nothing was. */
    decision?: string;
  };
}
