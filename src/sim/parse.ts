import { rateFromNumber } from "../core/policy.ts";
import { RETRY_AFTER_FORMULAS } from "../core/return-times.ts";
import {
  type BackendSpec,
  type EngineSpec,
  type FaultSpec,
  type LoadSpec,
  PLAIN_ENGINE,
  PLAIN_LOAD,
  PLAIN_NETWORK,
  type TenantSpec,
  type TroubleSpec,
  type WorldSpec,
} from "./spec.ts";

/**
 * A world from a JSON file. Whatever is left out is as in the plain world; whatever is wrong is one line that names it
 * and says what is allowed.
 */

/** Reads one value; throws a line that goes on after the value's name. */
type Reader<T> = (value: unknown, path: string) => T;

const fail = (path: string, allowed: string, value: unknown): never => {
  throw new Error(`${path} takes ${allowed}, not ${JSON.stringify(value) ?? "nothing"}`);
};

const number =
  (min: number, max: number): Reader<number> =>
  (value, path) =>
    typeof value === "number" && value >= min && value <= max ? value : fail(path, `${min} to ${max}`, value);
const whole =
  (min: number, max: number): Reader<number> =>
  (value, path) =>
    Number.isInteger(number(min, max)(value, path)) ? Number(value) : fail(path, `a whole number`, value);
const words =
  <T extends string>(...allowed: readonly T[]): Reader<T> =>
  (value, path) =>
    allowed.find((word) => word === value) ?? fail(path, allowed.map((word) => `"${word}"`).join(", "), value);
const orNull =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (value, path) =>
    value === null ? null : reader(value, path);
const list =
  <T>(reader: Reader<T>, min: number): Reader<readonly T[]> =>
  (value, path) =>
    Array.isArray(value) && value.length >= min
      ? value.map((item, n) => reader(item, `${path}[${n}]`))
      : fail(path, min > 0 ? "a list that is not empty" : "a list", value);
const name: Reader<string> = (value, path) =>
  typeof value === "string" && value !== "" ? value : fail(path, "a name", value);

type Shape<T> = { readonly [K in keyof T]: Reader<T[K]> };

/** An object with these members; one that is left out is taken from the plain one, where there is one. */
const object =
  <T extends object>(shape: Shape<T>, plain: Partial<T>): Reader<T> =>
  (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return fail(path, "an object", value);
    const known = Object.keys(shape);
    const given = new Map(Object.entries(value));
    const foreign = [...given.keys()].find((key) => !known.includes(key));
    if (foreign !== undefined) throw new Error(`${path} has no ${foreign}; it has ${known.join(", ")}`);
    const read = Object.entries<Reader<unknown>>(shape).map(([key, reader]) => {
      const plainly: unknown = Reflect.get(plain, key);
      if (!given.has(key) && plainly !== undefined) return [key, plainly];
      return [key, reader(given.get(key), `${path}.${key}`)];
    });
    // Each member was read by the reader of its own name.
    return Object.fromEntries(read) as T;
  };

/** Who sends, and when, has to be said. */
const { tenants: _tenants, phases: _phases, ...LOAD } = PLAIN_LOAD;
const DAY = 86_400;
const MS = whole(0, DAY * 1000);
const perMille = number(0, 1_000);
const quota = orNull(object({ burst: whole(1, 1_000_000), perMinute: whole(1, 10_000_000) }, {}));
const rate: Reader<number> = (value, path) =>
  rateFromNumber(number(0, 1_000_000)(value, path)) === null
    ? fail(path, "a rate that can be counted", value)
    : Number(value);

const WORLD: Reader<WorldSpec> = object<WorldSpec>(
  {
    seed: whole(0, Number.MAX_SAFE_INTEGER),
    seconds: number(1, 30 * DAY),
    tenants: list(
      object<TenantSpec>(
        {
          name,
          limit: orNull(object({ perSecond: rate, burst: whole(0, 1_000_000) }, {})),
          weight: whole(1, 1_000),
        },
        { limit: null, weight: 1 },
      ),
      1,
    ),
    loads: list(
      object<LoadSpec>(
        {
          tenants: list(name, 1),
          phases: list(
            object({ seconds: number(0.001, 30 * DAY), from: number(0, 100_000), to: number(0, 100_000) }, {}),
            1,
          ),
          criticalPerMille: perMille,
          spacing: words("even", "random"),
          manners: words("never", "obey", "ignore", "herd", "sdk"),
          triesMax: whole(1, 1_000),
          hangUpPerMille: perMille,
          hangUpMs: MS,
          deadlineMs: orNull(MS),
          cancelPerMille: perMille,
          keyed: (value, path) => (typeof value === "boolean" ? value : fail(path, "true or false", value)),
          cost: whole(1, 1_000_000),
        },
        LOAD,
      ),
      1,
    ),
    engine: object<EngineSpec>(
      {
        bound: orNull(whole(1, 1_000_000)),
        enqueueWaitMs: whole(0, 60_000),
        waitersMax: whole(0, 10_000),
        retryAfter: words(...RETRY_AFTER_FORMULAS),
        overflow: words("refuse", "defer"),
        deferredMax: whole(0, 10_000_000),
        flow: (_value, path) => fail(path, "nothing: a file cannot set it", _value),
        concurrency: whole(1, 10_000),
        attemptsMax: whole(1, 100),
        backoff: object({ baseMs: whole(1, 600_000), maxMs: whole(1, 3_600_000) }, {}),
        breakerFailures: whole(1, 1_000),
        timeoutMs: whole(1, 3_600_000),
        quota,
        isolates: whole(0, 1_000),
      },
      PLAIN_ENGINE,
    ),
    backend: object<BackendSpec>(
      {
        jobMs: number(1, DAY * 1000),
        spread: number(0, 1),
        quota,
        troubles: list(
          object<TroubleSpec>(
            {
              fromSeconds: number(0, 30 * DAY),
              toSeconds: number(0, 30 * DAY),
              kind: words("down", "silent", "slow", "failing", "busy", "nonsense"),
            },
            {},
          ),
          0,
        ),
      },
      { spread: 0, quota: null, troubles: [] },
    ),
    network: object({ delayMs: MS, dropPerMille: perMille, duplicatePerMille: perMille }, PLAIN_NETWORK),
    faults: list(
      object<FaultSpec>(
        {
          atSeconds: number(0, 30 * DAY),
          kind: words(
            "engine-restart",
            "engine-crash-before",
            "engine-crash-after",
            "limiter-restart",
            "clock",
            "isolate-restart",
          ),
          ms: whole(-30 * DAY * 1000, 30 * DAY * 1000),
        },
        { ms: 0 },
      ),
      0,
    ),
  },
  { seed: 1, seconds: DAY, network: PLAIN_NETWORK, engine: PLAIN_ENGINE, faults: [] },
);

/**
 * @param text the file's content
 * @throws Error with one line that says what is wrong and what is allowed
 */
export function parseWorld(text: string): WorldSpec {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("the world is not JSON");
  }
  const world = WORLD(value, "world");
  const names = new Set(world.tenants.map((tenant) => tenant.name));
  for (const [n, load] of world.loads.entries()) {
    const stranger = load.tenants.find((tenant) => !names.has(tenant));
    if (stranger !== undefined) fail(`world.loads[${n}].tenants`, [...names].join(", "), stranger);
  }
  if (names.size < world.tenants.length) throw new Error("world.tenants has two of the same name");
  return world;
}
