/**
 * Names that others have chosen, so that no two look alike: what has no shape of its own, or turns the direction of what
 * follows, is shown as its number.
 */

// Controls, line and paragraph ends, marks and overrides of direction, and what has no width.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** @returns the text with each such character as `\u{…}` */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
