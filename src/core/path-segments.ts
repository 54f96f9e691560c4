/**
 * Path segments as every server reads them. A server may decode a segment, even twice, may take a backslash for a slash,
 * and may cut off what follows a semicolon. None of that may lead a path elsewhere.
 */

/** No server decodes so often. What is still encoded then is refused instead of looked into without end. */
const DECODES_MAX = 8;

/** Empty, or a dot segment, also with parameters behind a semicolon: it stands for more or less than itself. */
const NO_NAME = /^\.{0,2}(;|$)/;
const CONTROL = /\p{Cc}/u;

/** Whether every server reads a text as one segment. @param text percent-encoded or not */
export function isPlainSegment(text: string): boolean {
  return isPlain(text, (decoded) => !/[/\\]/.test(decoded) && !NO_NAME.test(decoded));
}

/**
 * Whether a text that is encoded into one segment stays where it is. A slash may be part of it, since that is sent encoded;
 * a server that decodes it must still not find a dot segment or an empty one.
 */
export function staysInPlace(text: string): boolean {
  return isPlain(text, (decoded) => !decoded.split(/[/\\]/).some((name) => NO_NAME.test(name)));
}

/** Whether a text and everything that it decodes to are as they should be, and hold no control characters. */
function isPlain(text: string, isFine: (decoded: string) => boolean): boolean {
  let current = text;
  for (let decodes = 0; decodes <= DECODES_MAX; decodes++) {
    if (CONTROL.test(current) || !isFine(current)) return false;
    const decoded = decodeAscii(current);
    if (decoded === current) return true;
    current = decoded;
  }
  return false;
}

/** One by one: a server may pass over what it cannot decode. All that matters here is ASCII. */
function decodeAscii(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
