/**
 * What an evaluation costs: each operation is charged before it is done, by the size of what it reads and of what it
 * makes. An engine serves all tenants and cannot interrupt an expression, so the charge is what ends one.
 *
 * Contract: the time of an evaluation is at most a constant times its charge (test/core/feel-cost.test.ts).
 */

/** A step is about 10 ns of one core. */
export const STEP_NS = 10;
/** Of one evaluation, in steps: 0.2 s. */
export const STEPS_MAX = 20_000_000;
/** Of one text in characters, or of one list or context in members. What is larger could not be stored as a variable. */
export const VALUE_SIZE_MAX = 1024 * 1024;
/** Lists and contexts in one another. Walks over values recurse; JSON that comes in nests less deeply. */
export const VALUE_DEPTH_MAX = 128;

/** What one operation takes, in steps. */
export const COST = {
  /** Of a part of an expression, whenever it is looked at. */
  node: 12,
  /** Of a member that is read, copied or made. */
  member: 12,
  /** Of a member of a context that is made. */
  entry: 60,
  /** Of reading or making one decimal, and adding, multiplying or rounding it. */
  decimal: 200,
  /** Of a division, a remainder or a rounding to a scale. */
  division: 1_500,
  root: 6_000,
  logarithm: 20_000,
  power: 60_000,
  /** Of anything that has to do with a date, a time or a duration. */
  temporal: 60_000,
} as const;

/** Characters that a step reads or copies. */
const CHARACTERS_PER_STEP = 4;
/** Steps for each character that may have to be escaped or changed. */
const STEPS_PER_CHARACTER = 4;

/** Why there is no value. Its message follows on the expression. */
export class Fault extends Error {}

export class Meter {
  /** Steps so far. */
  spent = 0;
  /** What was first found wrong with a value that became null, for whoever needs a value. */
  note: string | null = null;
  readonly #most: number;

  /** @param most steps that may be spent */
  constructor(most: number) {
    this.#most = most;
  }

  /** @throws {Fault} when more is spent than may be */
  charge(steps: number): void {
    this.spent += steps;
    if (this.spent > this.#most) throw new OutOfSteps("takes too many steps on variables of this size");
  }

  /** So many members are read or made. */
  members(count: number): void {
    this.charge(1 + count * COST.member);
  }

  /** So many characters are read or copied. */
  characters(count: number): void {
    this.charge(1 + count / CHARACTERS_PER_STEP);
  }

  /** So many characters are looked at one by one. */
  eachCharacter(count: number): void {
    this.charge(1 + count * STEPS_PER_CHARACTER);
  }

  /** A search of a text in a text, at its worst: at each place, up to all characters of what is sought. */
  search(length: number, sought: number): void {
    const places = Math.max(1, length - sought + 1);
    this.characters(length + sought + (places * sought) / 2);
  }

  /** @throws {Fault} when a value is larger than VALUE_SIZE_MAX */
  size(count: number): void {
    if (count > VALUE_SIZE_MAX) throw new Fault(`makes a value of more than ${VALUE_SIZE_MAX} characters or members`);
  }

  /** @throws {Fault} when a value nests more deeply than VALUE_DEPTH_MAX */
  depth(depth: number): void {
    if (depth > VALUE_DEPTH_MAX) throw new Fault("works on a value that nests too deeply");
  }

  /** Notes why a value is null, and gives null. */
  missing(why: string): null {
    this.note ??= why;
    return null;
  }
}

/** The bound on steps, and not the value, is what ended it. */
export class OutOfSteps extends Fault {}
