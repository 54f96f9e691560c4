/**
 * Keys of commands, instances, jobs and incidents: decimal strings that carry their partition, so that a key alone
 * says which engine object knows it. `<partition from 1><15 digits>`; 17 digits for a million partitions, always
 * under the 25 that clients of the engine accept.
 */

const SEQUENCE_DIGITS = 15;
/** Keeps every sequence number an exact integer in a double and in SQLite. */
export const SEQUENCE_MAX = 10 ** SEQUENCE_DIGITS - 1;

/** Keys given out in a millisecond are fewer than this, on average over an engine's life. */
const SEQUENCES_PER_MS = 100;

/**
 * Where a new engine begins to count. By the clock, and not at 1: a backend that goes by the ids of commands would take
 * those of a second engine (another deployment, or one whose state was thrown away) for repeats of the first one's.
 *
 * @param nowMs Unix milliseconds of its first start
 */
export function firstSequence(nowMs: number): number {
  return Math.min(Math.floor(SEQUENCE_MAX / 2), Math.max(1, Math.floor(nowMs) * SEQUENCES_PER_MS));
}

/** @param partition 0-based; @param sequence 1 to {@link SEQUENCE_MAX} */
export function formatKey(partition: number, sequence: number): string {
  if (!Number.isInteger(sequence) || sequence < 1 || sequence > SEQUENCE_MAX) {
    throw new RangeError(`key sequence out of range: ${sequence}`);
  }
  return `${partition + 1}${String(sequence).padStart(SEQUENCE_DIGITS, "0")}`;
}

/** The parts of a key, or null when the text is not a key of ours. */
export function parseKey(key: string): { partition: number; sequence: number } | null {
  if (!/^[1-9]\d{15,24}$/.test(key)) return null;
  const partition = Number(key.slice(0, -SEQUENCE_DIGITS)) - 1;
  const sequence = Number(key.slice(-SEQUENCE_DIGITS));
  return Number.isSafeInteger(partition) && sequence > 0 ? { partition, sequence } : null;
}

/** Where an object takes its next key from, and how it writes and reads the keys of its own partition. */
export interface KeySource {
  /** A sequence number that was never given out before, also not before a crash. */
  next(): number;
  format(sequence: number): string;
  /** The sequence of a key of this partition; null for a foreign or malformed one. */
  parse(key: string): number | null;
}
