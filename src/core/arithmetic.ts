/** Exact whole-number arithmetic that the limits stand on. All arguments are safe integers. */

/** ⌈a ÷ b⌉ for a ≥ 0, b > 0, exact where the floating-point quotient would round. */
export function ceilDiv(a: number, b: number): number {
  const quotient = Math.floor(a / b);
  // The double quotient may have been rounded to a whole number from either side; the remainder tells.
  return a - quotient * b > 0 ? quotient + 1 : quotient;
}

/** ⌊a ÷ b⌋ for a ≥ 0, b > 0, exact where the floating-point quotient would round up to a whole number. */
export function floorDiv(a: number, b: number): number {
  const quotient = Math.floor(a / b);
  return quotient * b > a ? quotient - 1 : quotient;
}

/** ⌈a × b ÷ c⌉ for a, b ≥ 0, c > 0, exact whatever the size of the product. The result must be a safe integer. */
export function mulDivCeil(a: number, b: number, c: number): number {
  const divisor = BigInt(c);
  return Number((BigInt(a) * BigInt(b) + divisor - 1n) / divisor);
}

/** Greatest common divisor; gcd(0, n) = n. */
export function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/**
 * The simplest fraction that reads as exactly this double, by continued fractions: 0.1 → 1/10, 2/3 typed with all
 * its digits → 2/3. It turns a rate that somebody wrote as a decimal into the ratio that was meant.
 *
 * @param value finite and ≥ 0
 * @returns numerator and denominator, or null where they do not fit safe integers
 */
export function simplestFraction(value: number): { numerator: number; denominator: number } | null {
  let rest = value;
  let [n0, n1] = [0, 1];
  let [d0, d1] = [1, 0];
  for (let step = 0; step < CONTINUED_FRACTION_STEPS_MAX; step++) {
    const whole = Math.floor(rest);
    [n0, n1] = [n1, whole * n1 + n0];
    [d0, d1] = [d1, whole * d1 + d0];
    if (!Number.isSafeInteger(n1) || !Number.isSafeInteger(d1)) return null;
    if (n1 / d1 === value) return { numerator: n1, denominator: d1 };
    rest = 1 / (rest - whole);
  }
  return null;
}

/** A double has 53 bits and each step adds at least 0.69 of one on average; past this nothing new comes. */
const CONTINUED_FRACTION_STEPS_MAX = 64;
