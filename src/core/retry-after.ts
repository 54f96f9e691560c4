/** `Retry-After` as anybody may send it (RFC 9110, 10.2.3): seconds, or one of the three forms of an HTTP date. */

/**
 * @param header the field's value; null or undefined where there is none
 * @param nowMs Unix milliseconds, which a date is counted from
 * @returns milliseconds to wait, ≥ 0 and possibly very many; null when there is no value or it cannot be read
 */
export function parseRetryAfter(header: string | null | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  // Fractions are not in the grammar, and are sent all the same.
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const atMs = parseHttpDate(text, nowMs);
  return atMs === null ? null : Math.max(0, atMs - nowMs);
}

const FIFTY_YEARS_MS = 50 * 365.25 * 86_400_000;
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const TIME = "(?<h>\\d\\d):(?<m>\\d\\d):(?<s>\\d\\d)";
/** IMF-fixdate, RFC 850, asctime: RFC 9110 wants all three to be understood. */
const FORMS = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[\\d ]\\d) ${TIME} (?<year>\\d{4})$`),
];

function parseHttpDate(text: string, nowMs: number): number | null {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const { day, month = "", year = "", h, m, s } = parts;
    const monthIndex = MONTHS.indexOf(month);
    const at = (fullYear: number) => Date.UTC(fullYear, monthIndex, Number(day), Number(h), Number(m), Number(s));
    if (monthIndex < 0 || Number(day) > 31 || Number(h) > 23 || Number(m) > 59 || Number(s) > 60) return null;
    if (year.length === 4) return at(Number(year));
    // A year of two digits is never more than fifty years ahead (RFC 9110, 5.6.7).
    const century = at(2000 + Number(year)) - nowMs > FIFTY_YEARS_MS ? 1900 : 2000;
    return at(century + Number(year));
  }
  return null;
}

/** A wait in whole seconds, as `Retry-After` says it: at least one. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
