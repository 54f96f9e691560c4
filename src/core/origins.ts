/**
 * A list of web origins, as browsers write them: http or https, a host in lower case, a port where it is not the scheme's
 * own, and nothing after.
 *
 * @param text separated by commas or spaces
 * @returns each origin once, or what is wrong with the first that is none
 */
export function parseOrigins(text: string): readonly string[] | string {
  const origins = text.split(/[\s,]+/).filter((origin) => origin !== "");
  const bad = origins.find((origin) => !/^https?:[^*]+$/.test(origin) || URL.parse(origin)?.origin !== origin);
  if (bad === undefined) return [...new Set(origins)];
  return `${bad} is not an origin such as https://app.example, or http://localhost:3000, with nothing after it`;
}
