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
  const atMs = parseHttpDate(text);
  return atMs === null ? null : Math.max(0, atMs - nowMs);
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const TIME = "(?<h>\\d\\d):(?<m>\\d\\d):(?<s>\\d\\d)";
/** IMF-fixdate, RFC 850, asctime: RFC 9110 wants all three to be understood. */
const FORMS = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[\\d ]\\d) ${TIME} (?<year>\\d{4})$`),
];

function parseHttpDate(text: string): number | null {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const { day, month = "", year = "", h, m, s } = parts;
    // Two digits: nobody asks to be left alone until the last century.
    const fullYear = Number(year) + (year.length === 2 ? 2000 : 0);
    const monthIndex = MONTHS.indexOf(month);
    const atMs = Date.UTC(fullYear, monthIndex, Number(day), Number(h), Number(m), Number(s));
    return monthIndex < 0 || Number.isNaN(atMs) ? null : atMs;
  }
  return null;
}
