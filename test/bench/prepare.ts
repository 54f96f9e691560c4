import { type Client, connect } from "../../src/cli/http-client.ts";
import { keyOf, type Server } from "./server.ts";
import { ADMIN } from "./workers.ts";

/** What must be there before anything is measured: a process to start, a queue that is full. */

const ANSWER_MS_MAX = 15_000;

/** One request, for setting up: not what is measured. */
export async function ask(
  client: Client,
  method: "GET" | "POST",
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: object,
): Promise<{ status: number; text: string }> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return await client.send({ method, path, headers, ...sent, timeoutMs: ANSWER_MS_MAX });
}

/** @throws Error unless the command has been executed */
export async function execute(
  client: Client,
  intent: string,
  payload: object,
): Promise<Readonly<Record<string, unknown>>> {
  const headers = { Authorization: `Bearer ${keyOf("t0")}`, Prefer: "wait=10" };
  const { status, text } = await ask(client, "POST", "/v1/commands", headers, { intent, payload });
  const ended: { state?: string; result?: Record<string, unknown> } = JSON.parse(text);
  if (status !== 200 || ended.state !== "succeeded") throw new Error(`${intent} was answered with ${status}: ${text}`);
  return ended.result ?? {};
}

/** Deploys the process of one task that the commands start. */
export async function deployProcess(server: Server, worker: string): Promise<void> {
  await withClient(server, worker, (client) =>
    execute(client, "DEPLOYMENT:CREATE", { processId: "p", tasks: [{ type: "t" }] }),
  );
}

/** Pauses an engine and fills its queue, so that it is full until it is stopped. */
export async function fillQueue(server: Server, worker: string): Promise<void> {
  await deployProcess(server, worker);
  await withClient(server, worker, async (client) => {
    const paused = await ask(client, "POST", "/admin/engine/pause", ADMIN, { accept: true });
    if (paused.status !== 200) throw new Error(`the engine was not paused: ${paused.text}`);
    const headers = { Authorization: `Bearer ${keyOf("t1")}` };
    const body = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p" } };
    for (let n = 0; n < 100; n++) {
      const { status } = await ask(client, "POST", "/v1/commands", headers, body);
      if (status === 503) return;
    }
    throw new Error("the queue did not become full");
  });
}

export async function withClient<T>(server: Server, worker: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = connect(`http://127.0.0.1:${await server.port(worker)}`, 32);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}
