import { spreadOf } from "../../src/cli/statistics.ts";

/** Which rates stand together, what each is divided by, and what the samples of all rounds come to. Pure. */

export interface Sample {
  readonly side: string;
  /** Answers a second. */
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Parts of one core that the server and the load took. */
  readonly serverBusy: number;
  readonly loadBusy: number;
  /** Processor time of the server for an answer, in microseconds: what others take from its core is not in it. */
  readonly serverMicros: number;
  /** The part of the answers that was not what the side must answer. */
  readonly wrong: number;
  /** Of a whole answer, on average. */
  readonly answerBytes: number;
}

/** The samples of one round, one of each side. */
export type Round = readonly Sample[];

export const SECTIONS = ["check", "refusal", "command", "peers"] as const;
export type Section = (typeof SECTIONS)[number];

export interface Table {
  readonly section: Section;
  readonly title: string;
  /** Sides, each with the one that its rate is divided by; null: it is what others are divided by. */
  readonly rows: readonly (readonly [side: string, against: string | null])[];
}

export const TABLES: readonly Table[] = [
  {
    section: "check",
    title: "Check, one hot tenant",
    rows: [
      ["hono", null],
      ["headers", "hono"],
      ["object", "hono"],
      ["row", "hono"],
      ["exact", "object"],
      ["leased", "hono"],
      ["leased", "headers"],
    ],
  },
  {
    section: "check",
    title: "Check, 1 000 tenants in turn",
    rows: [
      ["hono-1000", null],
      ["object-1000", "hono-1000"],
      ["exact-1000", "object-1000"],
      ["leased-1000", "hono-1000"],
    ],
  },
  {
    section: "check",
    title: "Check, first touch: tenants that nobody has asked about",
    rows: [
      ["object-first", null],
      ["exact-first", "object-first"],
      ["leased-first", "object-first"],
    ],
  },
  {
    section: "refusal",
    title: "Refusals at the edge",
    rows: [
      ["hono", null],
      ["check-refused", "hono"],
      ["refused-429", "hono"],
      ["refused-503", "hono"],
    ],
  },
  ...[32, 128].map(
    (connections): Table => ({
      section: "command",
      title: `Durable commands, executed and answered, ${connections} connections`,
      rows: [
        [`row-${connections}`, null],
        [`command-${connections}`, `row-${connections}`],
      ],
    }),
  ),
  {
    section: "peers",
    title: "Limiters on one hot key",
    rows: [
      ["store", null],
      ["binding", "store"],
      ["flexible", "store"],
      ["exact", "store"],
      ["leased", "store"],
    ],
  },
];

/** Ids of all sides that these tables need, each once. */
export function sidesOf(tables: readonly Table[]): string[] {
  return [...new Set(tables.flatMap(({ rows }) => rows.flatMap(([id, against]) => [id, against ?? id])))];
}

export interface Figures {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Of nothing. */
export const UNKNOWN: Figures = { median: Number.NaN, min: Number.NaN, max: Number.NaN };

/** @returns null when there is nothing */
export function figuresOf(values: readonly number[]): Figures | null {
  const spread = spreadOf(values);
  return spread === null ? null : { median: spread.median, min: spread.min, max: spread.max };
}

/** One figure of a side, over the rounds. */
export function figuresOfSide(rounds: readonly Round[], side: string, figure: keyof Omit<Sample, "side">) {
  return figuresOf(rounds.flatMap((round) => round.filter((one) => one.side === side).map((one) => one[figure])));
}

/**
 * A side's rate over another's, round by round: what the machine does meanwhile changes both. By `serverMicros`, the
 * other's processor time over this one's: the same, were the processor all that matters.
 *
 * @returns null unless there is a round with both
 */
export function ratioOf(
  rounds: readonly Round[],
  side: string,
  against: string,
  by: "perSecond" | "serverMicros" = "perSecond",
): Figures | null {
  const ratios = rounds.flatMap((round) => {
    const own = round.find((sample) => sample.side === side)?.[by];
    const base = round.find((sample) => sample.side === against)?.[by];
    if (own === undefined || base === undefined) return [];
    return [by === "perSecond" ? own / base : base / own];
  });
  return figuresOf(ratios);
}
