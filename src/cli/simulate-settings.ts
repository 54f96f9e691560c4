import { LIMITER_MODES } from "../core/lease.ts";
import { RETRY_AFTER_FORMULAS } from "../core/return-times.ts";
import { BURST } from "../sim/burst.ts";
import { SABOTAGES } from "../sim/sabotage.ts";
import { FAIR_SHARE, OUTAGE, OVERLOAD, RATE_LIMIT } from "../sim/scenarios.ts";
import { THREE_MODES } from "../sim/three-modes.ts";
import { choice, decimal, flag, type Option, readOptions, text, usageText, whole } from "./options.ts";

/** What may be said to `npm run simulate`: a scenario, and its own options. */

const SEED_MAX = Number.MAX_SAFE_INTEGER;
const CALLERS = ["never", "obey", "ignore", "herd", "sdk"] as const;
const BOUND_MAX = 1_000_000;
const RATE = { min: 0.001, max: 100_000 };
const SECONDS = { min: 0.001, max: 86_400 };
/** Arrivals of a run from the command line: some minutes of work. */
const ARRIVALS_MAX = 50_000_000;

/** What every scenario has. */
const OUTPUT = { json: flag("one JSON object instead of the table") };
const PICTURE = { svg: text("FILE", "a picture of depth, waits and refusals", "") };
const seed = whole("N", "of every bit of chance", { min: 0, max: SEED_MAX }, 1);
const callers = choice("WHAT", "what callers do with a refusal", CALLERS, "never");
const bound = (fallback: number) => whole("N", "commands that may be queued", { min: 1, max: BOUND_MAX }, fallback);

const boundOrNone: Option<number | null> = {
  hint: "N",
  help: "commands that may be queued, or none (default 100)",
  read: (given) => {
    const last = given.at(-1) ?? "100";
    if (last === "none") return null;
    if (!/^\d{1,7}$/.test(last) || Number(last) < 1 || Number(last) > BOUND_MAX) {
      throw new Error(`takes 1 to ${BOUND_MAX} or none, not ${last}`);
    }
    return Number(last);
  },
};

const arrivals: Option<readonly number[]> = {
  hint: "LIST",
  help: `tasks that arrive in each tick (default ${THREE_MODES.arrivals.join(",")})`,
  read: (given) => {
    const last = given.at(-1);
    if (last === undefined) return THREE_MODES.arrivals;
    if (!/^\d{1,6}(,\d{1,6}){0,9999}$/.test(last)) throw new Error(`takes whole numbers with commas, not ${last}`);
    return last.split(",").map(Number);
  },
};

/** Each scenario's options, and what it is. */
export const SCENARIOS = {
  burst: {
    help: "jobs at a fixed rate in front of workers, with or without a quota behind them",
    options: {
      rate: decimal("N", "jobs a second", RATE, BURST.rate),
      seconds: decimal("N", "for how long", SECONDS, BURST.seconds),
      workers: whole("N", "workers", { min: 1, max: 1_000 }, BURST.workers),
      slots: whole("N", "jobs at a time that a worker runs", { min: 1, max: 1_000 }, BURST.slots),
      jobMs: whole("MS", "how long a job takes", { min: 1, max: 3_600_000 }, BURST.jobMs),
      spread: decimal("SHARE", "each takes from 1 - SHARE to 1 + SHARE of that", { min: 0, max: 1 }, BURST.spread),
      bound: boundOrNone,
      quota: choice("WHICH", "the backend's quota of 50, then 50 a minute", ["on", "off", "untold"], BURST.quota),
      formula: choice("WHICH", "what refused callers are told", RETRY_AFTER_FORMULAS, BURST.formula),
      callers,
      bursts: whole("N", "how many bursts", { min: 1, max: 1_000 }, BURST.bursts),
      everySeconds: decimal("N", "from one burst to the next", SECONDS, BURST.everySeconds),
      seed,
      ...OUTPUT,
      ...PICTURE,
    },
  },
  "three-modes": {
    help: "no control, backpressure and load shedding, tick by tick",
    options: {
      arrivals,
      perTick: whole("N", "tasks finished per tick", { min: 0, max: 1_000_000 }, THREE_MODES.perTick),
      bound: bound(THREE_MODES.bound),
      ...OUTPUT,
    },
  },
  overload: {
    help: "100 to 500 a second against an engine that does 250",
    options: { bound: bound(OVERLOAD.bound), callers, seed, ...OUTPUT, ...PICTURE },
  },
  outage: {
    help: "a backend that is down for half an hour under steady traffic",
    options: { bound: bound(OUTAGE.bound), callers, seed, ...OUTPUT, ...PICTURE },
  },
  "fair-share": {
    help: "40 tenants within their limits, and an engine for a third of them",
    options: { bound: bound(FAIR_SHARE.bound), callers, seed, ...OUTPUT, ...PICTURE },
  },
  "rate-limit": {
    help: "one tenant over its limit, and one within",
    options: {
      rate: decimal("N", "requests a second", RATE, RATE_LIMIT.rate),
      seconds: decimal("N", "for how long", SECONDS, RATE_LIMIT.seconds),
      limit: whole("N", "tokens a second", { min: 1, max: 1_000_000 }, RATE_LIMIT.limit),
      burst: whole("N", "tokens at once", { min: 1, max: 1_000_000 }, RATE_LIMIT.burst),
      seed,
      ...OUTPUT,
      ...PICTURE,
    },
  },
  "retry-after": {
    help: "how many callers are taken who come back as they were told",
    options: { seeds: whole("N", "runs of each world", { min: 1, max: 1_000 }, 5), ...OUTPUT },
  },
  capacity: {
    help: "what a rate, a safety factor and a bound mean in seconds",
    options: {
      rate: decimal("N", "commands a second that are expected", RATE, 500),
      safety: decimal("N", "how many times that the engine should do", { min: 1, max: 1_000 }, 5),
      bound: bound(10_000),
      ...OUTPUT,
    },
  },
  edge: {
    help: "many places and isolates, a million tenants: calls, rows, hottest object, price",
    options: {
      rate: decimal("N", "requests a second", { min: 1, max: 10_000_000 }, 1_000_000),
      tenants: whole("N", "tenants, by a Zipf law", { min: 1, max: 10_000_000 }, 1_000_000),
      zipf: decimal("S", "its exponent", { min: 0, max: 3 }, 1),
      places: whole("N", "places", { min: 1, max: 1_000 }, 100),
      isolates: whole("N", "isolates in each place", { min: 1, max: 1_000 }, 20),
      homes: whole("N", "places that a tenant's callers are in", { min: 1, max: 1_000 }, 3),
      mode: choice("MODE", "how limits are decided", LIMITER_MODES, "leased"),
      sample: decimal("SHARE", "of a minute's requests", { min: 0.000_01, max: 1 }, 0.01),
      seed,
      ...OUTPUT,
    },
  },
  fuzz: {
    help: "random worlds with faults, until one breaks a promise",
    options: {
      seeds: whole("N", "how many", { min: 1, max: 10_000_000 }, 1_000),
      from: whole("N", "the first seed", { min: 0, max: SEED_MAX }, 1),
      sabotage: choice("WHAT", "breaks the gateway on purpose", ["nothing", ...SABOTAGES], "nothing"),
      ...OUTPUT,
    },
  },
  speed: {
    help: "events a second, and memory, over a long run",
    options: {
      minutes: whole("N", "of overload, in virtual time", { min: 1, max: 10_000 }, 60),
      ...OUTPUT,
    },
  },
  world: {
    help: "a world of your own, from a JSON file",
    options: { file: text("FILE", "the world", ""), ...OUTPUT, ...PICTURE },
  },
} as const;

export type ScenarioName = keyof typeof SCENARIOS;
type ValuesOf<N extends ScenarioName> = Exclude<
  ReturnType<typeof readOptions<(typeof SCENARIOS)[N]["options"]>>,
  "help"
>;
/** A scenario with its options' values. */
export type Asked = {
  readonly [N in ScenarioName]: { readonly scenario: N; readonly values: ValuesOf<N> };
}[ScenarioName];

/**
 * @param argv the arguments after the program's name
 * @returns what was asked for; a text to be printed when it was help
 * @throws Error with one line that says what is wrong and what is allowed
 */
export function readSimulateArguments(argv: readonly string[]): Asked | string {
  const [first, ...rest] = argv;
  const names = Object.keys(SCENARIOS);
  if (first === undefined || first === "--help" || first === "-h") return usage();
  const scenario = names.find((name): name is ScenarioName => name === first);
  if (scenario === undefined) throw new Error(`there is no scenario ${first}; known are ${names.join(", ")}`);
  const { help, options } = SCENARIOS[scenario];
  const values = readOptions(joined(rest), options);
  if (values === "help") return usageText(`npm run simulate -- ${scenario}`, help, options);
  // The values were read by the table of this very scenario.
  const asked = { scenario, values } as Asked;
  checkTogether(asked);
  return asked;
}

/** A value that begins with a dash is still a value: what is wrong with it is said by the option that takes it. */
function joined(argv: readonly string[]): string[] {
  const out: string[] = [];
  for (const word of argv) {
    const last = out.at(-1);
    if (/^-\d/.test(word) && last?.startsWith("--") && !last.includes("=")) out[out.length - 1] = `${last}=${word}`;
    else out.push(word);
  }
  return out;
}

/** What each option alone allows, and all of them together do not. */
function checkTogether({ scenario, values }: Asked): void {
  if (scenario === "world" && values.file === "") throw new Error("--file needs a value: FILE, a world as JSON");
  if (scenario === "rate-limit" && values.rate * values.seconds > ARRIVALS_MAX) {
    throw new Error(`--rate times --seconds takes up to ${ARRIVALS_MAX} requests, not ${values.rate * values.seconds}`);
  }
  if (scenario !== "burst") return;
  const { bursts, seconds, everySeconds, bound: queued, callers: manners, rate } = values;
  if (rate * seconds * bursts > ARRIVALS_MAX) {
    throw new Error(`--rate times --seconds takes up to ${ARRIVALS_MAX} jobs, not ${rate * seconds * bursts}`);
  }
  if (bursts > 1 && everySeconds < seconds) {
    throw new Error(
      `--every-seconds takes ${seconds} (--seconds) or more with --bursts ${bursts}, not ${everySeconds}`,
    );
  }
  if (queued === null && manners !== "never") {
    throw new Error(`--callers takes never with --bound none, where nobody is refused, not ${manners}`);
  }
}

function usage(): string {
  const width = Math.max(...Object.keys(SCENARIOS).map((name) => name.length));
  const rows = Object.entries(SCENARIOS).map(([name, { help }]) => `  ${name.padEnd(width)}   ${help}`);
  return [`npm run simulate -- SCENARIO [options]   (SCENARIO --help: its options)`, ...rows].join("\n");
}
