import { parseArgs } from "node:util";
import { DEV_ADMIN_TOKEN, type Gateway, startGateway } from "./gateway.ts";

/** `npm start`: the gateway on this machine, until it is interrupted. */

const USAGE = `npm start -- [--port N] [--persist-to DIR] [--var NAME:VALUE]...
  --port N           where to listen on 127.0.0.1 (default 8787; 0: a free port)
  --persist-to DIR   the folder of all state (default .wrangler/state)
  --var NAME:VALUE   a variable of wrangler.toml for this run; may be repeated`;

interface Arguments {
  readonly port: number;
  readonly persistTo: string;
  readonly vars: Record<string, string>;
}

function readArguments(argv: readonly string[]): Arguments | "help" {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      port: { type: "string", default: "8787" },
      "persist-to": { type: "string", default: ".wrangler/state" },
      var: { type: "string", multiple: true, default: [] },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  const port = Number(values.port);
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) throw new Error(`--port takes 0 to 65535, not ${values.port}`);
  return { port, persistTo: values["persist-to"], vars: Object.fromEntries(values.var.map(readVar)) };
}

function readVar(text: string): [string, string] {
  const [name = "", ...value] = text.split(":");
  if (name === "" || value.length === 0) throw new Error(`--var takes NAME:VALUE, not ${text}`);
  return [name, value.join(":")];
}

function greeting({ url }: Gateway, persistTo: string): string {
  return `
Headgate listens on ${url}   (state in ${persistTo}; stop with Ctrl-C)

  demo tenant      key               limit
  demo-free        hg_dev_free       50/s, burst 100
  demo-standard    hg_dev_standard   100/s, burst 200
  demo-premium     hg_dev_premium    1000/s, burst 2000
  admin token      ${DEV_ADMIN_TOKEN}

Try:
  curl -s ${url}/readyz
  curl -s ${url}/v1/limits -H 'Authorization: Bearer hg_dev_free'
  curl -s ${url}/v1/check -H 'Authorization: Bearer hg_dev_free' -d '{"cost":10}'
  curl -s ${url}/v1/commands -H 'Authorization: Bearer hg_dev_free' \\
    -d '{"intent":"DEPLOYMENT:CREATE","payload":{"processId":"order","tasks":[{"type":"pay"}]}}'
  curl -s ${url}/v1/queue -H 'Authorization: Bearer hg_dev_free'
  curl -s ${url}/admin/tenants -H 'Authorization: Bearer ${DEV_ADMIN_TOKEN}'
`;
}

async function main(): Promise<void> {
  const options = readArguments(process.argv.slice(2));
  if (options === "help") return console.log(USAGE);
  const gateway = await startGateway(options);
  console.log(greeting(gateway, options.persistTo));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void gateway.stop().then(() => process.exit(0)));
  }
}

try {
  await main();
} catch (error) {
  console.error(`headgate: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
