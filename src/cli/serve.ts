import { readArguments, type ServeArguments, USAGE } from "./arguments.ts";
import type { Gateway } from "./gateway.ts";
import { aborted, runTool } from "./tool.ts";

/** `npm start`: the gateway on this machine, until it is interrupted. */

/** Where commands go, and one to try. */
function behind({ config }: Gateway): { where: string; command: string } {
  const deploy = '{"intent":"DEPLOYMENT:CREATE","payload":{"processId":"order","tasks":[{"type":"pay"}]}}';
  if (config.executor === "embedded") return { where: "run by the embedded engine", command: deploy };
  const { byIntent, otherwise } = config.UPSTREAM_ROUTES;
  const named = otherwise === null ? [...byIntent] : [...byIntent, ["*", otherwise] as const];
  const routes = named.map(([intent, { method, path }]) => `${intent} → ${method} ${path}`);
  const [intent = "PROCESS_INSTANCE:CREATE"] = byIntent.keys();
  const where = `delivered to ${config.UPSTREAM_URL}, ${config.UPSTREAM_CONCURRENCY} at a time${routes.length > 0 ? `\n  ${routes.join("\n  ")}` : ""}`;
  return { where, command: `{"intent":"${intent}","payload":{"n":1}}` };
}

function greeting(gateway: Gateway, persistTo: string): string {
  const { url, adminToken, config } = gateway;
  const local = config.LOCAL_TENANT === "" ? "" : `\nRequests to /v2 without a credential are ${config.LOCAL_TENANT}'s`;
  const { where, command } = behind(gateway);
  return `
Headgate listens on ${url}   (state in ${persistTo}; stop with Ctrl-C)
Commands are ${where}${local}

  demo tenant      key               limit
  demo-free        hg_dev_free       50/s, burst 100
  demo-standard    hg_dev_standard   100/s, burst 200
  demo-premium     hg_dev_premium    1000/s, burst 2000
  admin token      ${adminToken}

Dashboard: ${url}/dashboard   Explorer: ${url}/explorer
Try:
  curl -s ${url}/readyz
  curl -s ${url}/v1/limits -H 'Authorization: Bearer hg_dev_free'
  curl -s ${url}/v1/check -H 'Authorization: Bearer hg_dev_free' -d '{"cost":10}'
  curl -s ${url}/v1/commands -H 'Authorization: Bearer hg_dev_free' \\
    -d '${command}'
  curl -s ${url}/v1/queue -H 'Authorization: Bearer hg_dev_free'
  curl -s ${url}/admin/tenants -H 'Authorization: Bearer ${adminToken}'
`;
}

async function serve(options: ServeArguments, interrupted: AbortSignal): Promise<number> {
  // Loaded only now: a misspelt option is answered at once, without a bundler and a runtime.
  const { startGateway } = await import("./gateway.ts");
  const gateway = await Promise.race([startGateway(options, interrupted), aborted(interrupted)]);
  // What has been started so far ends with this process.
  if (gateway === undefined) return INTERRUPTED;
  console.log(greeting(gateway, options.persistTo));
  await aborted(interrupted);
  await gateway.stop();
  return 0;
}

/** The exit code of a start that did not come to its end: a shell's for an interrupted command. */
const INTERRUPTED = 130;

await runTool(USAGE, readArguments, serve);
