/**
 * A tenant's weight in the command queue, by its tier: how many commands it runs per turn, and how large its part of a
 * contended queue is (fair-lanes.ts, fair-share.ts). Whole numbers, so that shares compare exactly.
 */

/** Everyone who waits gets a turn, and one command is the least that a turn can be. */
export const WEIGHT_MIN = 1;
/** A turn of a thousand commands is about what an engine does in a second or more: the others wait that long for theirs. */
export const WEIGHT_MAX = 1_000;
/** A tier of which nothing is said gives nobody precedence. */
export const WEIGHT_DEFAULT = WEIGHT_MIN;
