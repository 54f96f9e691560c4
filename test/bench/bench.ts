import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { runTool } from "../../src/cli/tool.ts";
import { BENCH_USAGE, type BenchSettings, readBenchSettings, wants } from "./bench-settings.ts";
import { drawChart } from "./chart.ts";
import { readCosts } from "./cost.ts";
import { measureCritical } from "./critical.ts";
import { LATENCY_SIDES, measureLatency } from "./latency.ts";
import { type Loader, startLoader } from "./loader.ts";
import { describeMachine } from "./machine.ts";
import { type Measuring, measureRounds } from "./measure.ts";
import { measureMemory } from "./memory.ts";
import { measureAdmission } from "./over-admission.ts";
import { deployProcess, fillQueue } from "./prepare.ts";
import { profileSide } from "./profile.ts";
import { type Results, writeResults } from "./results.ts";
import { type Server, startServer } from "./server.ts";
import { type Side, sideOf } from "./sides.ts";
import { sidesOf, TABLES, type Table } from "./tables.ts";
import { type Verdict, verdictsOf } from "./verdicts.ts";
import { describeVersions } from "./versions.ts";

/** `npm run bench`: what a decision costs here, against what the platform costs and what other limiters cost. */

const RESULTS = new URL("RESULTS.md", import.meta.url);
const CHART = new URL("results.svg", import.meta.url);
/** What people have to say about the figures: it is put into the results as it is. */
const NOTES = new URL("notes.md", import.meta.url);
/** Fewer rounds than this are a look, and no results. */
const ROUNDS_MIN = 5;
const PROFILE_SECONDS = 3;
const PROFILE_LINES = 20;

async function bench(settings: BenchSettings, interrupted: AbortSignal): Promise<number> {
  const loader = startLoader(interrupted);
  try {
    if (settings.parts.includes("profile")) {
      const profiles = await profilesOf(settings, loader, settings.parts.slice(1), settings.seconds);
      console.log(profiles.join("\n\n"));
      return 0;
    }
    const results = await measureAll(settings, loader);
    const text = writeResults(results, (id) => sideOf(id).label);
    console.log(text);
    if (!settings.parts.includes("all")) return 0;
    if (settings.rounds < ROUNDS_MIN) console.log(`fewer than ${ROUNDS_MIN} rounds: nothing was written`);
    else {
      await writeFile(RESULTS, text);
      await writeFile(CHART, drawChart(results.tables, results.rounds));
    }
    return 0;
  } finally {
    loader.stop();
  }
}

/** The tables that were asked for; sides that were asked for by name stand in one with what they are divided by. */
function chosenTables(settings: BenchSettings): Table[] {
  const named = TABLES.flatMap(({ rows }) => rows).filter(([id]) => settings.parts.includes(id));
  if (named.length > 0) {
    const bases = new Set(named.map(([id, against]) => against ?? id));
    const others = named.filter(([, against]) => against !== null);
    return [{ section: "check", title: "Sides", rows: [...[...bases].map((id) => [id, null] as const), ...others] }];
  }
  return TABLES.filter(({ section }) => wants(settings, section));
}

async function measureAll(settings: BenchSettings, loader: Loader): Promise<Results> {
  const tables = chosenTables(settings);
  const measured = await measureSides(settings, loader, tables);
  const memory = wants(settings, "memory") ? await measureMemory(settings, loader, say) : [];
  const verdicts = verdictsOf(measured.rounds, measured.critical?.ratio ?? null);
  const missed = settings.parts.includes("all") ? missedSides(verdicts) : [];
  const profiles = await profilesOf(settings, loader, missed, PROFILE_SECONDS);
  return {
    ...measured,
    tables,
    memory,
    verdicts,
    machine: describeMachine(),
    versions: describeVersions(settings.root),
    seconds: settings.seconds,
    cost: readCosts(),
    notes: existsSync(NOTES) ? readFileSync(NOTES, "utf8") : "",
    profiles: profiles.map((text) => text.split("\n").slice(0, PROFILE_LINES).join("\n")),
  };
}

/** Everything that is measured in the one workerd that holds all sides. */
async function measureSides(settings: BenchSettings, loader: Loader, tables: readonly Table[]) {
  const sides = sidesOf(tables).map(sideOf);
  const latency = wants(settings, "latency");
  const needsServer = sides.length > 0 || latency;
  if (!needsServer) return { rounds: [], admission: [], latency: [], critical: null, pinned: loader.pinned };
  const server = await startServer(settings.root);
  try {
    await prepare(server, latency ? [...sides, ...LATENCY_SIDES] : sides);
    const measuring: Measuring = { server, loader, say, seconds: settings.seconds, rounds: settings.rounds };
    const rounds = sides.length === 0 ? [] : await measureRounds(measuring, sides);
    return {
      rounds,
      latency: latency ? await measureLatency(measuring, rounds) : [],
      critical: latency ? await measureCritical(measuring) : null,
      admission: wants(settings, "peers") ? await measureAdmission(measuring) : [],
      pinned: server.pinned && loader.pinned,
    };
  } finally {
    await server.stop();
  }
}

async function prepare(server: Server, sides: readonly Side[]): Promise<void> {
  if (sides.some(({ worker }) => worker === "commands")) await deployProcess(server, "commands");
  if (sides.some(({ worker }) => worker === "full")) await fillQueue(server, "full");
}

/** Sides of goals that were missed and that are a Worker under load of one kind. */
function missedSides(verdicts: readonly Verdict[]): string[] {
  const missed = verdicts.filter(({ reached, side }) => !reached && side !== "critical").map(({ side }) => side);
  return [...new Set(missed)];
}

/** @returns where the time of each of these sides goes, in a workerd that lets itself be looked at */
async function profilesOf(
  { root }: BenchSettings,
  loader: Loader,
  ids: readonly string[],
  seconds: number,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const server = await startServer(root, { inspect: true });
  try {
    const sides = ids.map(sideOf);
    await prepare(server, sides);
    const profiles: string[] = [];
    for (const side of sides) {
      say(`profile of ${side.id}`);
      profiles.push((await profileSide(server, loader, side, seconds, root)).join("\n"));
    }
    return profiles;
  } finally {
    await server.stop();
  }
}

function say(line: string): void {
  console.error(line);
}

await runTool(BENCH_USAGE, readBenchSettings, bench);
