/** How figures are written on the pages: the same digits for the same number everywhere, in as few words as it takes. */

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** 10 000 as "10,000". */
export function whole(value: number): string {
  return grouped.format(value);
}

/** A number of things a second: one decimal below 100, none above. Never "-0.0". */
export function perSecond(value: number): string {
  const shown = Math.max(0, value);
  return `${shown < 99.95 ? shown.toFixed(1) : grouped.format(shown)}/s`;
}

/** A length of time given in seconds, in its two largest units: "4.2 s", "3 min 5 s", "2 h 10 min", "3 d 4 h". */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const total = Math.round(seconds);
  if (total < 60) return `${total} s`;
  const units = UNITS.find(({ of }) => total >= of) ?? MINUTES;
  const rest = Math.floor((total % units.of) / units.partOf);
  return `${Math.floor(total / units.of)} ${units.name}${rest > 0 ? ` ${rest} ${units.part}` : ""}`;
}

const MINUTES = { of: 60, name: "min", partOf: 1, part: "s" };
const UNITS = [
  { of: 86_400, name: "d", partOf: 3600, part: "h" },
  { of: 3600, name: "h", partOf: 60, part: "min" },
  MINUTES,
];

/** How long ago, or how long until: "12 s ago", "in 3 min". @param ms from then to now, in milliseconds */
export function relative(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (seconds < 1) return "now";
  const units = UNITS.find(({ of }) => seconds >= of);
  const words = units === undefined ? `${seconds} s` : `${Math.floor(seconds / units.of)} ${units.name}`;
  return ms >= 0 ? `${words} ago` : `in ${words}`;
}

/** A size in bytes: "32 MiB", "1.5 KiB". */
export function bytes(value: number): string {
  const power = Math.max(0, Math.min(3, Math.floor(Math.log2(Math.max(1, value)) / 10)));
  const scaled = value / 1024 ** power;
  return `${Number.isInteger(scaled) ? scaled : scaled.toFixed(1)} ${["B", "KiB", "MiB", "GiB"][power]}`;
}
