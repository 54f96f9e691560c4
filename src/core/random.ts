/**
 * Chance from a seed, for runs that can be run again: a Weyl sequence through the finalizer of MurmurHash3 (Appleby,
 * 2011), which is SplitMix (Steele, Lea, Flood, 2014) in 32 bits. Good enough for worlds, not for secrets.
 */

/** 2^32 divided by the golden ratio, odd: it visits every state once. */
const STEP = 0x9e3779b9;

/**
 * @param seed any number; whole numbers close to each other give unrelated sequences
 * @returns a function that gives the next number in [0, 1)
 */
export function seeded(seed: number): () => number {
  let state = mix(Math.trunc(seed) | 0) ^ mix(Math.trunc(seed / 2 ** 32) | 0);
  return () => {
    state = (state + STEP) | 0;
    return (mix(state) >>> 0) / 2 ** 32;
  };
}

function mix(value: number): number {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
