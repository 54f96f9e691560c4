/**
 * Whether a request was meant for this machine by a program on it. A page in a browser here also comes from loopback,
 * whosever page it is: it shows by the name that it asked for, or by what browsers say of where a request comes from.
 */
export function isOfThisMachine({ url, headers }: Request): boolean {
  // A name of somebody else's may lead to this machine all the same.
  if (!isLoopbackName(new URL(url).hostname)) return false;
  const origin = headers.get("Origin");
  if (origin !== null && !isLoopbackName(hostOf(origin))) return false;
  return headers.get("Sec-Fetch-Site") !== "cross-site";
}

/** @param name as a URL has it, without a port */
function isLoopbackName(name: string): boolean {
  return name === "localhost" || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Empty for what is no URL: an opaque origin says `null`. */
function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : "";
}
