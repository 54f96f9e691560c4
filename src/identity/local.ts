/**
 * Whether a request was meant for this machine by a program on it. A page in a browser here also comes from loopback,
 * whosever page it is: it shows by the name that it asked for, or by what browsers say of where a request comes from. So
 * does what a proxy or a tunnel on this machine hands on for somebody else: it shows by what proxies add.
 */
export function isOfThisMachine({ url, headers }: Request): boolean {
  // A name of somebody else's may lead to this machine all the same.
  if (!isLoopbackName(new URL(url).hostname)) return false;
  const origin = headers.get("Origin");
  if (origin !== null && !isLoopbackName(hostOf(origin))) return false;
  return headers.get("Sec-Fetch-Site") !== "cross-site" && !isForwarded(headers);
}

/**
 * Fields by which proxies, load balancers and tunnels say that a request is another's, whatever they say. Not
 * `CF-Connecting-IP`: the runtime on one machine sets it itself, and the caller's address is read from it.
 */
const FORWARDING_FIELD =
  /^(forwarded(-.+)?|x-forwarded(-.+)?|x-original-.+|x-real-ip|x-client-ip|x-cluster-client-ip|x-proxyuser-ip|x-envoy-.+|x-arr-.+|x-azure-.+|x-appengine-.+|x-amzn?-.+|x-vercel-.+|fly-.+|fastly-client-ip|true-client-ip|client-ip|via|cdn-loop|proxy-.+|cf-(?!connecting-ip$).+)$/;

function isForwarded(headers: Headers): boolean {
  // Names are in lower case here.
  for (const name of headers.keys()) if (FORWARDING_FIELD.test(name)) return true;
  return false;
}

/** @param name as a URL has it, without a port */
function isLoopbackName(name: string): boolean {
  return name === "localhost" || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Empty for what is no URL: an opaque origin says `null`. */
function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : "";
}
