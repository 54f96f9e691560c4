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
}

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
};

/** Longer values are shown cut. */
const SHOWN_MAX = 20;

/**
 * Reads a query. What is not there is as by default; what cannot be meant is mended, and said.
 *
 * @param query with or without its question mark
 * @returns the settings, and one line for each value that was mended
 */
export function readSettings(query: string): { readonly settings: Settings; readonly mended: readonly string[] } {
  const given = new URLSearchParams(query);
  const mended: string[] = [];
  const read = <T>(name: string, fallback: T, parse: (text: string) => T | string, shown: (value: T) => string): T => {
    const text = given.get(name);
    if (text === null) return fallback;
    const value = parse(text);
    if (typeof value !== "string") return value;
    const nearest = nearestTo(text, name, fallback);
    const cut = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
    mended.push(`${name} is ${value}, not “${cut}”: ${shown(nearest)} is shown.`);
    return nearest;
  };
  const settings = {
    rate: read("rate", DEFAULTS.rate, (text) => wholeIn(text, RATE), String),
    workers: read("workers", DEFAULTS.workers, (text) => wholeIn(text, WORKERS), String),
    bound: read<number | null>("bound", DEFAULTS.bound, boundOf, (bound) => `${bound ?? "none"}`),
    quota: read<boolean>("quota", DEFAULTS.quota, quotaOf, (on) => (on ? "on" : "off")),
  };
  return { settings, mended };
}

const RANGES: Readonly<Record<string, Range>> = { rate: RATE, workers: WORKERS, bound: BOUND };

/** For a number out of its range the nearest in it, for anything else what is there by default. */
function nearestTo<T>(text: string, name: string, fallback: T): T | number {
  const range = RANGES[name];
  const value = Number(text);
  if (range === undefined || text.trim() === "" || !Number.isFinite(value)) return fallback;
  return Math.min(range.max, Math.max(range.min, Math.round(value)));
}

/** @returns a whole number in the range, or what it should have been */
export function wholeIn(text: string, { min, max }: Range): number | string {
  const value = Number(text);
  const isWhole = /^\d{1,6}$/.test(text);
  return isWhole && value >= min && value <= max ? value : `a whole number from ${min} to ${max}`;
}

function boundOf(text: string): number | null | string {
  if (text === "none") return null;
  const value = wholeIn(text, BOUND);
  return typeof value === "string" ? `none or ${value}` : value;
}

function quotaOf(text: string): boolean | string {
  return text === "on" ? true : text === "off" ? false : "on or off";
}

/** The query that {@link readSettings} reads as these settings; always whole, so that a link means the same for good. */
export function writeQuery({ rate, workers, bound, quota }: Settings): string {
  return `rate=${rate}&workers=${workers}&bound=${bound ?? "none"}&quota=${quota ? "on" : "off"}`;
}

/** The same run in a terminal. */
export function commandLine({ rate, workers, bound, quota }: Settings): string {
  const words = [
    `--rate ${rate}`,
    `--workers ${workers}`,
    `--bound ${bound ?? "none"}`,
    `--quota ${quota ? "on" : "off"}`,
  ];
  return `npm run simulate -- burst ${words.join(" ")}`;
}

/** The burst of these settings; all the rest is as on the command line. */
export function burstOf({ rate, workers, bound, quota }: Settings): BurstOptions {
  return { ...BURST, rate, workers, bound, quota: quota ? "on" : "off" };
}
