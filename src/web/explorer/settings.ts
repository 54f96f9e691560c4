import { BURST, type BurstOptions } from "../../sim/burst.ts";

/**
 * What can be set on the page, and its two spellings: the query of the address, so that a setting can be shared, and
 * the command line that gives the same numbers.
 */

export interface Settings {
  /** Jobs that arrive in a second. */
  readonly rate: number;
  readonly workers: number;
  /** Jobs that may wait; null: as many as come. */
  readonly bound: number | null;
  /** Whether the backend lets 50 jobs start at once, and then 50 a minute. */
  readonly quota: boolean;
  /** How much of the course is shown: its beginning, or all of it. Changes no number. */
  readonly view: View;
}

/** The first two minutes, or until nothing waits any more. */
export type View = "start" | "whole";

interface Range {
  readonly min: number;
  readonly max: number;
}

export const RATE: Range = { min: 2, max: 12 };
export const WORKERS: Range = { min: 1, max: 4 };
/** A bound of as many as can come at all is no bound: there is nothing to see beyond. */
export const BOUND: Range = { min: 1, max: RATE.max * BURST.seconds };
/** What "a bound" means where none was chosen. */
export const USUAL_BOUND = 100;

export const DEFAULTS: Settings = {
  rate: BURST.rate,
  workers: BURST.workers,
  bound: USUAL_BOUND,
  quota: BURST.quota === "on",
  view: "start",
};

/** Longer values are shown cut. */
const SHOWN_MAX = 20;

/** A value as it was meant; or the nearest that could be, and what it should have been. */
type Read<T> = { readonly value: T; readonly wanted?: string };

/**
 * Reads a query. What is not there is as by default; what cannot be meant is mended, and said.
 *
 * @param query with or without its question mark
 * @returns the settings, and one line for each value that was mended
 */
export function readSettings(query: string): { readonly settings: Settings; readonly mended: readonly string[] } {
  const given = new URLSearchParams(query);
  const mended: string[] = [];
  const read = <T>(name: string, fallback: T, parse: (text: string) => Read<T>, spelt: (value: T) => string): T => {
    const text = given.get(name);
    if (text === null) return fallback;
    const { value, wanted } = parse(text);
    if (wanted !== undefined) mended.push(`${name} takes ${wanted}, not “${cut(text)}”: ${spelt(value)} is shown.`);
    return value;
  };
  const settings = {
    rate: read("rate", DEFAULTS.rate, (text) => readWhole(text, RATE, DEFAULTS.rate), String),
    workers: read("workers", DEFAULTS.workers, (text) => readWhole(text, WORKERS, DEFAULTS.workers), String),
    bound: read("bound", DEFAULTS.bound, readBound, spellBound),
    quota: read("quota", DEFAULTS.quota, readQuota, spellQuota),
    view: read("view", DEFAULTS.view, readView, String),
  };
  return { settings, mended };
}

/** For a number out of its range the nearest in it, for anything else what is there by default. */
function readWhole(text: string, { min, max }: Range, fallback: number): Read<number> {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return { value };
  const nearest = Number.isNaN(value) ? fallback : Math.min(max, Math.max(min, Math.round(value)));
  return { value: nearest, wanted: `a whole number from ${min} to ${max}` };
}

function readBound(text: string): Read<number | null> {
  if (text === "none") return { value: null };
  const { value, wanted } = readWhole(text, BOUND, USUAL_BOUND);
  return wanted === undefined ? { value } : { value, wanted: `none or ${wanted}` };
}

function readQuota(text: string): Read<boolean> {
  if (text === "on" || text === "off") return { value: text === "on" };
  return { value: DEFAULTS.quota, wanted: "on or off" };
}

function readView(text: string): Read<View> {
  if (text === "start" || text === "whole") return { value: text };
  return { value: DEFAULTS.view, wanted: "start or whole" };
}

/** What was typed into the field of the bound. @returns null: no bound that there can be */
export function typedBound(text: string): number | null {
  const { value, wanted } = readWhole(text, BOUND, USUAL_BOUND);
  return wanted === undefined ? value : null;
}

function cut(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

const spellBound = (bound: number | null) => `${bound ?? "none"}`;
const spellQuota = (on: boolean) => (on ? ("on" as const) : ("off" as const));

/** The query that {@link readSettings} reads as these settings; always whole, so that a link means the same for good. */
export function writeQuery(settings: Settings): string {
  return settings.view === "start" ? runOf(settings) : `${runOf(settings)}&view=${settings.view}`;
}

/** What the numbers depend on: settings with the same are one run. */
export function runOf({ rate, workers, bound, quota }: Settings): string {
  return `rate=${rate}&workers=${workers}&bound=${spellBound(bound)}&quota=${spellQuota(quota)}`;
}

/** The same run in a terminal. */
export function commandLine({ rate, workers, bound, quota }: Settings): string {
  const options = `--rate ${rate} --workers ${workers} --bound ${spellBound(bound)} --quota ${spellQuota(quota)}`;
  return `npm run simulate -- burst ${options}`;
}

/** The burst of these settings; all the rest is as on the command line. */
export function burstOf({ rate, workers, bound, quota }: Settings): BurstOptions {
  return { ...BURST, rate, workers, bound, quota: spellQuota(quota) };
}
