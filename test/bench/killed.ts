import { runTool } from "../../src/cli/tool.ts";
import { runKilledInstances, TASKS } from "../support/node/killed-instances.ts";

// Instances of a process of five tasks, created and worked on over /v2 while every process of the gateway dies in the
// middle of it: afterwards each instance is there once and complete, each task was completed once, and the engine's
// counters add up. `npm run killed -- 1000 3`: so many instances, so many kills. Exits with 1 when something is broken.

const USAGE = `npm run killed -- [INSTANCES] [KILLS]

  INSTANCES   1 to 100000 (1000)
  KILLS       0 to 100 (3), spread evenly over the work`;

interface Settings {
  readonly instances: number;
  readonly kills: number;
}

function readSettings(argv: readonly string[]): Settings | "help" {
  if (argv.includes("--help")) return "help";
  const [instances, kills] = [Number(argv[0] ?? 1000), Number(argv[1] ?? 3)];
  const areInRange = instances >= 1 && instances <= 100_000 && kills >= 0 && kills <= 100;
  if (argv.length > 2 || !Number.isInteger(instances) || !Number.isInteger(kills) || !areInRange) {
    throw new Error(`takes whole numbers of instances and kills\n\n${USAGE}`);
  }
  return { instances, kills };
}

async function run({ instances, kills }: Settings, interrupted: AbortSignal): Promise<number> {
  const { seconds, repeats, replays, lostLeases, accepted, ends, broken } = await runKilledInstances(
    instances,
    kills,
    interrupted,
  );
  const sum = Object.entries(ends).map(([state, n]) => `${n} ${state}`);
  console.log(
    `${instances} instances of ${TASKS.length} tasks, ${kills} kills, ${seconds.toFixed(1)} s: ${
      broken.length === 0 ? "each completed once" : `BROKEN (${broken.join("; ")})`
    }; ${accepted} accepted = ${sum.join(" + ")}; ${repeats} requests sent again (${replays} for instances that had been created), ${lostLeases} lost leases given back`,
  );
  return broken.length === 0 ? 0 : 1;
}

await runTool(USAGE, readSettings, run);
