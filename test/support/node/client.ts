/** A plain client for tests that talk to a real gateway. */

export interface Command {
  readonly commandId: string;
  readonly state: string;
  readonly result: {
    readonly processInstanceKey: string;
    readonly jobs: { readonly jobKey: string; readonly variables: { readonly n: number } }[];
  };
}

/** Sends JSON with a bearer credential, and waits up to 10 s for a command's end. */
export async function post<T = Command>(url: string, path: string, key: string, body: unknown, method = "POST") {
  const headers = { Authorization: `Bearer ${key}`, Prefer: "wait=10" };
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  const parsed: T = JSON.parse(text || "null");
  return { status: response.status, headers: response.headers, body: parsed };
}

/** One instance of the process below, told apart by `n`. */
export const create = (n: number) => ({
  intent: "PROCESS_INSTANCE:CREATE",
  payload: { processId: "p", variables: { n } },
});
export const DEPLOY = { intent: "DEPLOYMENT:CREATE", payload: { processId: "p", tasks: [{ type: "t" }] } };
