import { readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { burstWorld } from "../sim/burst.ts";
import { capacity } from "../sim/capacity.ts";
import { edge } from "../sim/edge.ts";
import { fuzz } from "../sim/fuzz.ts";
import { parseWorld } from "../sim/parse.ts";
import { picture } from "../sim/picture.ts";
import { retryTable } from "../sim/retry-table.ts";
import { SABOTAGES } from "../sim/sabotage.ts";
import * as named from "../sim/scenarios.ts";
import type { WorldSpec } from "../sim/spec.ts";
import { threeModes } from "../sim/three-modes.ts";
import { runWorld } from "../sim/world.ts";
import { type Asked, readSimulateArguments } from "./simulate-settings.ts";
import { capacityTable, edgeTable, modesTable, reportTable, retriesTable, round } from "./simulate-tables.ts";

/** What `npm run simulate` does, without the process around it. */

/** What is printed, and whether all of it is as it should be. */
interface Said {
  readonly text: string;
  readonly json: unknown;
  readonly holds: boolean;
}

function run(asked: Asked): Said {
  switch (asked.scenario) {
    case "burst":
      return ofWorld(asked, burstWorld(asked.values), () => []);
    case "overload":
      return ofWorld(asked, named.overloadWorld(asked.values), (report) => named.overloadClaims(report, asked.values));
    case "outage":
      return ofWorld(asked, named.outageWorld(asked.values), (report) => named.outageClaims(report, asked.values));
    case "fair-share":
      return ofWorld(asked, named.fairShareWorld(asked.values), (report) =>
        named.fairShareClaims(report, asked.values),
      );
    case "rate-limit":
      return ofWorld(asked, named.rateLimitWorld(asked.values), (report) =>
        named.rateLimitClaims(report, asked.values),
      );
    case "world":
      return ofWorld(asked, parseWorld(readFileSync(asked.values.file, "utf8")), () => []);
    case "three-modes": {
      const modes = threeModes(asked.values);
      return { text: modesTable(modes), json: modes, holds: true };
    }
    case "capacity": {
      const report = capacity(asked.values);
      return { text: capacityTable(report), json: report, holds: true };
    }
    case "retry-after": {
      const rows = retryTable(asked.values.seeds);
      return { text: retriesTable(rows), json: rows, holds: true };
    }
    case "edge": {
      const report = edge(asked.values);
      return { text: edgeTable(report), json: report, holds: true };
    }
    case "fuzz":
      return runFuzz(asked.values);
    case "speed":
      return runSpeed(asked.values.minutes);
  }
}

type WorldAsked = Extract<Asked, { values: { svg: string } }>;

function ofWorld(
  { scenario, values }: WorldAsked,
  spec: WorldSpec,
  claimsOf: (report: ReturnType<typeof runWorld>) => readonly named.Claim[],
): Said {
  const report = runWorld(spec);
  const claims = claimsOf(report);
  if (values.svg !== "") writeFileSync(values.svg, picture(`headgate simulate ${scenario}`, report.timeline));
  return {
    text: reportTable(report, claims),
    json: { scenario, options: values, ...report, claims },
    holds: claims.every(({ holds }) => holds),
  };
}

function runFuzz({ from, seeds, sabotage }: Extract<Asked, { scenario: "fuzz" }>["values"]): Said {
  const broken = SABOTAGES.find((name) => name === sabotage) ?? null;
  const found = fuzz(from, seeds, broken);
  if (found === null) {
    const text = `${seeds} worlds, seeds ${from} to ${from + seeds - 1}: every promise was kept`;
    return { text, json: { from, seeds, found: null }, holds: true };
  }
  const { seed, spec, trace } = found;
  const { invariant, message } = found.broken;
  const text = [
    `seed ${seed} breaks invariant ${invariant}: ${message}`,
    "the smallest world found that does so, and what happened in it:",
    JSON.stringify(spec),
    ...trace,
  ].join("\n");
  return { text, json: { from, seeds, found: { seed, invariant, message, spec, trace } }, holds: false };
}

/** How much work a second, and whether memory grows with the length of the run. */
function runSpeed(minutes: number): Said {
  const world = named.overloadWorld(named.OVERLOAD);
  const lasting = (seconds: number): WorldSpec => ({
    ...world,
    seconds: seconds + 3_600,
    loads: world.loads.map((load) => ({ ...load, phases: [{ seconds, from: 500, to: 500 }] })),
  });
  // What is compiled on the way, and the first heap, is not what a long run is.
  runWorld(lasting(30));
  const collect = garbageCollector();
  const memory = [60, minutes * 60].map((seconds) => {
    const began = process.cpuUsage();
    const { events } = runWorld(lasting(seconds));
    // Of one core, whatever else the machine is doing.
    const { user, system } = process.cpuUsage(began);
    const ms = (user + system) / 1_000;
    collect();
    return { events, ms, heapMb: process.memoryUsage().heapUsed / 1e6 };
  });
  const last = memory.at(-1);
  const perSecond = last === undefined ? 0 : Math.round((last.events / last.ms) * 1_000);
  const heap = memory.map(({ heapMb }) => `${round(heapMb)} MB`).join(" → ");
  const text = `${last?.events} events, ${perSecond} a second of one core; heap ${heap}`;
  return { text, json: { perSecond, runs: memory }, holds: true };
}

/** What is left after a run, and not what the collector has not come to. */
function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  return typeof collect === "function" ? () => void collect() : () => undefined;
}

/**
 * @param argv the arguments after the program's name
 * @returns what is printed, and the exit code: 1 when something did not hold
 * @throws Error with one line for people when the arguments cannot be meant
 */
export function simulate(argv: readonly string[]): { readonly text: string; readonly exitCode: number } {
  const asked = readSimulateArguments(argv);
  if (typeof asked === "string") return { text: asked, exitCode: 0 };
  const { text, json, holds } = run(asked);
  return { text: asked.values.json ? JSON.stringify(json, null, 2) : text, exitCode: holds ? 0 : 1 };
}
