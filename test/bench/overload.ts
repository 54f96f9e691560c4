import { writeFile } from "node:fs/promises";
import { Agent, type OutgoingHttpHeaders, request } from "node:http";
import { startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// An engine that does 250 commands a second under 500 a second: what is refused and how, how the limit settles, how long
// the admitted wait, whether critical commands pass, and how soon it is over. `npm run overload` prints the figures and
// draws the trace into test/bench/overload.svg. `npm run overload -- 10` takes ten seconds instead of a minute.

const SECONDS = Number(process.argv[2] ?? 60);
if (!(SECONDS >= 1 && SECONDS <= 600)) throw new Error("npm run overload -- SECONDS takes 1 to 600 seconds");
const ENGINE_PER_SECOND = 250;
const OFFERED_PER_SECOND = 500;
const CALM_PER_SECOND = 100;
const CALM_SECONDS = 15;
const KEY = { Authorization: "Bearer hg_dev_premium" };
const ADMIN = { Authorization: "Bearer dev-admin" };

interface Trace {
  readonly second: number;
  readonly inFlight: number;
  readonly limit: number;
  readonly refused: number;
}

// Connections are kept and few: a new one per request would measure the kernel's queue of connections.
const agent = new Agent({ keepAlive: true, maxSockets: 128 });

function call<T>(url: string, method: "GET" | "POST" | "PUT", headers: OutgoingHttpHeaders, body?: object) {
  return new Promise<{ status: number; body: T }>((resolve, reject) => {
    const sent = request(url, { method, headers, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text || "null") }));
    });
    sent.on("error", reject).end(body && JSON.stringify(body));
  });
}

/** Sends at a fixed rate whatever comes back, and counts what came back by second of sending. */
async function offer(perSecond: number, seconds: number, each: (n: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  const sent: Promise<void>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = began + (n * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    sent.push(each(n));
  }
  await Promise.all(sent);
}

const percentile = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;

const { folder, remove } = await temporaryFolder();
const gateway = await startGatewayProcess(folder, [`ENGINE_RATE_MAX:${ENGINE_PER_SECOND}`]);
try {
  const { url } = gateway;
  const commands = `${url}/v1/commands`;
  const unlimited = { requestsPerSecond: 100_000, burstSize: 1_000_000 };
  await call(`${url}/admin/tenants/demo-premium/limits`, "PUT", ADMIN, unlimited);
  await call(commands, "POST", KEY, {
    intent: "DEPLOYMENT:CREATE",
    payload: { processId: "p", tasks: [{ type: "t" }] },
  });

  const statuses = new Map<string, number>();
  const critical = { accepted: 0, refused: 0 };
  const accepted: string[] = [];
  const lateRefusals: number[] = [];
  const began = performance.now();
  const loadEnds = began + SECONDS * 1000;
  const create = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p" } };
  const complete = { intent: "JOB:COMPLETE", payload: { jobKey: "1000000000000001" } };

  const send = async (n: number) => {
    const isCritical = n % 20 === 0;
    const { status, body } = await call<{ commandId?: string; code?: string }>(
      commands,
      "POST",
      KEY,
      isCritical ? complete : create,
    );
    if (isCritical) critical[status === 202 ? "accepted" : "refused"] += 1;
    const label = status === 202 ? "202" : `${status} ${body.code}`;
    statuses.set(label, (statuses.get(label) ?? 0) + 1);
    if (status === 202 && body.commandId !== undefined && !isCritical) accepted.push(body.commandId);
    if (status === 503 && performance.now() > loadEnds) lateRefusals.push((performance.now() - loadEnds) / 1000);
  };

  const trace: Trace[] = [];
  let watching = true;
  const watch = async () => {
    while (watching) {
      interface Status {
        inFlight: number;
        limit: { value: number };
        counters: { refused: Record<string, number> };
      }
      const { body } = await call<Status>(`${url}/v1/queue`, "GET", KEY);
      const refused = Object.values(body.counters.refused).reduce((sum, n) => sum + n, 0);
      trace.push({
        second: (performance.now() - began) / 1000,
        inFlight: body.inFlight,
        limit: body.limit.value,
        refused,
      });
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
  const watcher = watch();
  await offer(OFFERED_PER_SECOND, SECONDS, send);
  await offer(CALM_PER_SECOND, CALM_SECONDS, send);
  watching = false;
  await watcher;

  // What the admitted waited: from acceptance to processed, as the engine's clock has it, over a sample of them.
  const sample = accepted.filter((_id, n) => n % Math.ceil(accepted.length / 1000) === 0);
  const waits: number[] = [];
  for (const id of sample) {
    const { body } = await call<{ acceptedAt: string; finishedAt?: string }>(`${commands}/${id}`, "GET", KEY);
    waits.push(Date.parse(body.finishedAt ?? "") - Date.parse(body.acceptedAt));
  }
  waits.sort((a, b) => a - b);

  console.log(
    `offered ${OFFERED_PER_SECOND}/s for ${SECONDS} s to an engine of ${ENGINE_PER_SECOND}/s, then ${CALM_PER_SECOND}/s`,
  );
  console.table([...statuses].map(([answer, count]) => ({ answer, count })));
  const settled = trace.filter(({ second }) => second > SECONDS / 2 && second < SECONDS);
  console.log(
    `limit in the second half: ${Math.min(...settled.map((t) => t.limit))} to ${Math.max(...settled.map((t) => t.limit))}`,
  );
  console.log(
    `in flight in the second half: ${Math.min(...settled.map((t) => t.inFlight))} to ${Math.max(...settled.map((t) => t.inFlight))}`,
  );
  console.log(
    `admitted waited: median ${percentile(waits, 0.5)} ms, p99 ${percentile(waits, 0.99)} ms (of ${waits.length})`,
  );
  console.log(`critical: ${critical.accepted} accepted, ${critical.refused} refused`);
  console.log(`last refusal ${(lateRefusals.at(-1) ?? 0).toFixed(1)} s after the load fell`);
  await writeFile(new URL("overload.svg", import.meta.url), draw(trace));
} finally {
  agent.destroy();
  await gateway.kill();
  await remove();
}

/** The trace as a picture: in flight and its limit over time, and what was refused per second. */
function draw(trace: readonly Trace[]): string {
  const [width, height, left, bottom] = [900, 360, 60, 40];
  const seconds = Math.max(...trace.map(({ second }) => second));
  const top = Math.max(...trace.flatMap(({ inFlight, limit }) => [inFlight, limit]), OFFERED_PER_SECOND);
  const x = (second: number) => left + (second / seconds) * (width - left - 20);
  const y = (value: number) => height - bottom - (value / top) * (height - bottom - 20);
  const rates = trace.slice(1).map((point, n) => {
    const before = trace[n] ?? point;
    return { second: point.second, rate: (point.refused - before.refused) / (point.second - before.second) };
  });
  const line = (points: readonly (readonly [number, number])[], colour: string) =>
    `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ")}"/>`;
  const label = (text: string, at: number, colour: string) =>
    `<text x="${left + at}" y="14" fill="${colour}">${text}</text>`;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const value = Math.round(top * share);
    return `<line x1="${left}" x2="${width - 20}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/><text x="${left - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`;
  });
  const ticks = Array.from({ length: Math.floor(seconds / 10) + 1 }, (_, n) => n * 10).map(
    (second) => `<text x="${x(second)}" y="${height - bottom + 18}" text-anchor="middle">${second} s</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>${grid.join("")}${ticks.join("")}
${line(
  trace.map((t) => [t.second, t.limit]),
  "#1f77b4",
)}
${line(
  trace.map((t) => [t.second, t.inFlight]),
  "#d62728",
)}
${line(
  rates.map((t) => [t.second, t.rate]),
  "#999",
)}
${label("limit", 0, "#1f77b4")}${label("in flight", 60, "#d62728")}${label("refused per second", 140, "#777")}
</svg>
`;
}
