import { spreadOf } from "../../src/cli/statistics.ts";
import { alignRows } from "../../src/cli/text-table.ts";
import { runTool } from "../../src/cli/tool.ts";
import { BENCH_USAGE, type BenchSettings, readBenchSettings } from "./bench-settings.ts";
import { startLoader } from "./loader.ts";
import { measureRounds, type Sample } from "./measure.ts";
import { deployProcess, fillQueue } from "./prepare.ts";
import { profileSide } from "./profile.ts";
import { startServer } from "./server.ts";
import { SIDES, type Side } from "./sides.ts";

/** `npm run bench`: what a decision costs here, against what the platform costs and what others cost. */

async function bench(settings: BenchSettings, interrupted: AbortSignal): Promise<number> {
  const sides = chosen(settings);
  const loader = startLoader(interrupted);
  const profiling = settings.parts.includes("profile");
  const server = await startServer(settings.root, { inspect: profiling });
  try {
    if (!server.pinned || !loader.pinned) console.log("server and load are not kept on cores of their own (taskset)");
    if (sides.some(({ worker }) => worker === "commands")) await deployProcess(server, "commands");
    if (sides.some(({ worker }) => worker === "full")) await fillQueue(server, "full");
    if (profiling) {
      for (const side of sides.filter(({ id }) => settings.parts.includes(id))) {
        console.log((await profileSide(server, loader, side, settings.seconds, settings.root)).join("\n"));
      }
      return 0;
    }
    const rounds = await measureRounds({ server, loader, ...settings, say: (line) => console.log(line) }, sides);
    print(sides, rounds);
    return 0;
  } finally {
    loader.stop();
    await server.stop();
  }
}

/** The sides that were asked for, and those that they are measured against. */
function chosen({ parts }: BenchSettings): Side[] {
  if (parts.includes("all")) return [...SIDES];
  const named = SIDES.filter(({ id, section }) => parts.includes(id) || parts.includes(section));
  const wanted = new Set(named.flatMap(({ id, against }) => [id, against]));
  return SIDES.filter(({ id }) => wanted.has(id));
}

function print(sides: readonly Side[], rounds: readonly (readonly Sample[])[]): void {
  const rows = sides.map((side) => {
    const of = (id: string) => rounds.flatMap((round) => round.filter((sample) => sample.side === id));
    const own = of(side.id);
    const rate = spreadOf(own.map(({ perSecond }) => perSecond));
    const bases = of(side.against);
    const ratio = spreadOf(own.map(({ perSecond }, n) => perSecond / (bases[n]?.perSecond ?? Number.NaN)));
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return [
      side.id,
      `${rate?.median.toFixed(0)} (${rate?.min.toFixed(0)}–${rate?.max.toFixed(0)})`,
      side.against === side.id ? "" : `${ratio?.median.toFixed(2)} × ${side.against}`,
      mean(own.map(({ p99 }) => p99)).toFixed(1),
      mean(own.map(({ serverBusy }) => serverBusy)).toFixed(2),
      mean(own.map(({ loadBusy }) => loadBusy)).toFixed(2),
      `${own[0]?.answerBytes}`,
    ];
  });
  const head = ["side", "a second: median (min–max)", "ratio", "p99 ms", "server's core", "load's core", "bytes"];
  console.log(alignRows([head, ...rows]).join("\n"));
}

await runTool(BENCH_USAGE, readBenchSettings, bench);
