import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { alignRows } from "../../src/cli/text-table.ts";
import { type CpuProfile, selfTimes } from "./cpu-profile.ts";
import type { Loader } from "./loader.ts";
import { runSide } from "./measure.ts";
import type { Server } from "./server.ts";
import type { Side } from "./sides.ts";
import { workerCode } from "./workers.ts";

/**
 * Where a Worker's time goes while it is under load: V8's own sampling profiler, through the debugger's port of workerd.
 * The Worker and its objects share an isolate on one machine, so both are in it; the runtime's own work (sockets, SQLite,
 * calls between objects) shows only as "(program)" and "(idle)".
 */

const SAMPLE_MICROSECONDS = 200;
const ROWS = 45;
const WARM_UP_SECONDS = 2;

/**
 * @param root where the product was taken from
 * @returns one line for each function that takes the most time itself; the profile and the code are kept in files
 */
export async function profileSide(
  server: Server,
  loader: Loader,
  side: Side,
  seconds: number,
  root: string,
): Promise<string[]> {
  if (server.inspector === null) throw new Error("the server was started without a port for a debugger");
  await runSide({ server, loader }, side, 0, { kind: "closed", seconds: WARM_UP_SECONDS });
  const debug = await attach(server.inspector, side.worker);
  try {
    await debug.call("Profiler.enable");
    await debug.call("Profiler.setSamplingInterval", { interval: SAMPLE_MICROSECONDS });
    await debug.call("Profiler.start");
    const { perSecond } = (await runSide({ server, loader }, side, 0, { kind: "closed", seconds })).result;
    const { profile } = await debug.call<{ profile: CpuProfile }>("Profiler.stop");
    const file = path.join(tmpdir(), `headgate-${side.id}.cpuprofile`);
    await writeFile(file, JSON.stringify(profile));
    const code = path.join(tmpdir(), `headgate-${side.id}.js`);
    await writeFile(code, await workerCode(root, side.worker));
    const rows = selfTimes(profile).slice(0, ROWS);
    const perRequest = (ms: number) => ((ms * 1000) / (perSecond * seconds)).toFixed(1);
    return [
      `${side.label} (${side.id}), by the time that each function takes itself; lines are the bundle's`,
      ...alignRows([
        ["function", "self", "µs a request", "where"],
        ...rows.map(({ name, where, ms, share }) => [name, `${(share * 100).toFixed(1)} %`, perRequest(ms), where]),
      ]),
      `the whole profile: ${file}; the bundle: ${code}`,
    ];
  } finally {
    debug.close();
  }
}

interface Debug {
  call<T>(method: string, params?: object): Promise<T>;
  close(): void;
}

/** @throws Error when there is no such Worker, or the debugger says no */
async function attach(inspector: URL, worker: string): Promise<Debug> {
  const listed = await fetch(new URL("/json", `http://${inspector.host}`));
  const targets = (await listed.json()) as { id: string; webSocketDebuggerUrl: string }[];
  const target = targets.find(({ id }) => id === `core:user:${worker}`);
  if (target === undefined) throw new Error(`no ${worker} among ${targets.map(({ id }) => id).join(", ")}`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error("the debugger's port does not answer")));
  });
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result, error } = JSON.parse(String(data));
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(error.message));
  });
  let last = 0;
  const call = <T>(method: string, params: object = {}) =>
    new Promise<T>((resolve, reject) => {
      last += 1;
      // The answer's shape is the debugger's; who calls names it.
      waiting.set(last, { resolve: (value) => resolve(value as T), reject });
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  return { call, close: () => socket.close() };
}
