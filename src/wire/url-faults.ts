/** What is wrong with an address that a deployment configures: no part of it may be dropped in silence, or logged. */

/** @returns why an address cannot be asked as it stands; null when it can */
export function urlFault(text: string): string | null {
  if (!URL.canParse(text) || !/^https?:\/\/[^\s\\]+$/i.test(text)) return "must be an http or https URL";
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return "must have no user and password: a credential has a variable of its own";
  return text.includes("#") ? "must have no fragment: it would be dropped" : null;
}

/** As {@link urlFault}, for an address that paths are put behind. */
export function baseUrlFault(text: string): string | null {
  return urlFault(text) ?? (text.includes("?") ? "must have no query: paths are put behind it" : null);
}
