import type { AnswerBody, AttemptResult } from "../../core/delivery/answer.ts";
import { JSON_DEPTH_MAX, objectOf, parseJson } from "../../core/json.ts";
import { scanJson } from "../../core/json-scan.ts";
import { decodeText } from "../../wire/decode-text.ts";
import { readBounded } from "../../wire/read-bounded.ts";
import type { DeliverableCommand, DeliveringExecutor } from "../port.ts";
import { faultsForPath, routeOf, type UpstreamRoutes, urlOf } from "./routes.ts";
import { ownerHeader, realHeaders, wholeBody, wholeOf, wholeUrl } from "./whole.ts";

/**
 * One attempt to hand a command to the upstream over HTTP. It says what came back, whatever that is, within its
 * deadline and within so many bytes; what it means, and whether to try again, is decided in `core/delivery`.
 */

export interface UpstreamSettings {
  readonly url: string;
  readonly routes: UpstreamRoutes;
  /** Deadline of an attempt, its answer's body included, in milliseconds. */
  readonly timeoutMs: number;
  /** The most of an answer that is read, in bytes. */
  readonly responseBytesMax: number;
  /** Sent as `Authorization`; empty: none. */
  readonly authorization: string;
}

export class UpstreamExecutor implements DeliveringExecutor {
  readonly #settings: UpstreamSettings;

  constructor(settings: UpstreamSettings) {
    this.#settings = settings;
  }

  async deliver(command: DeliverableCommand): Promise<AttemptResult> {
    const { timeoutMs, responseBytesMax } = this.#settings;
    const deadline = new AbortController();
    const request = this.#request(command, deadline.signal);
    if (!(request instanceof Request)) return { kind: "undeliverable", why: request.fault };
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const broken = (error: unknown): AttemptResult =>
      deadline.signal.aborted
        ? { kind: "broken", code: "timeout", why: `no answer in ${timeoutMs} ms` }
        : { kind: "broken", code: "unreachable", why: reasonOf(error) };
    try {
      const response = await fetch(request);
      const { status, headers } = response;
      const answered = (said: { readonly body: AnswerBody; readonly contentType?: string }): AttemptResult => {
        return { kind: "answered", status, retryAfter: headers.get("Retry-After"), ...said };
      };
      const asText = wholeOf(command.headers) !== null;
      return await readAnswer(response, responseBytesMax, asText).then(answered, (error) =>
        // A no is a no, whatever becomes of its words; a yes that broke off may not have been one.
        response.ok ? broken(error) : answered({ body: { kind: "empty" } }),
      );
    } catch (error) {
      return broken(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What is sent; or why nothing can be, which is an operator's mistake and not the upstream's. */
  #request(command: DeliverableCommand, signal: AbortSignal): Request | { readonly fault: string } {
    const { url, routes } = this.#settings;
    const { intent, payload } = command;
    // Where a redirect leads has not been configured, and a redirected POST may become a GET.
    const always = { redirect: "manual", signal } as const;
    const whole = wholeOf(command.headers);
    if (whole !== null) {
      const { method, path } = whole;
      const body = method === "GET" ? null : wholeBody(payload);
      return new Request(wholeUrl(url, path), { ...always, method, headers: this.#headers(command), body });
    }
    const route = routeOf(routes, intent);
    if (route === null) return { fault: `no route is declared for ${intent} any more` };
    const members = objectOf(payload);
    const faults = faultsForPath(route, members);
    if (faults.length > 0) return { fault: `its route needs ${faults.map(({ path }) => path).join(", ")}` };
    const { method } = route;
    const headers = this.#headers(command);
    const to = urlOf(url, route, members);
    if (method === "GET") return new Request(to, { ...always, method, headers });
    headers.set("Content-Type", "application/json");
    return new Request(to, { ...always, method, headers, body: payload });
  }

  #headers({ id, tenant, intent, attempt, headers }: DeliverableCommand): Headers {
    const { authorization } = this.#settings;
    const sent = new Headers(realHeaders(headers));
    sent.set(...ownerHeader(tenant));
    sent.set("X-Headgate-Intent", intent);
    sent.set("X-Headgate-Command-Id", id);
    sent.set("X-Headgate-Attempt", String(attempt));
    sent.set("Idempotency-Key", id);
    if (authorization !== "") sent.set("Authorization", authorization);
    return sent;
  }
}

/** The content encodings that `fetch` has undone when it hands over a body; bytes of any other are still encoded. */
const DECODED_BY_FETCH = /^\s*(identity|gzip|br)?\s*$/i;
/** As much of an encoding's name as an error shows. */
const ENCODING_LENGTH_MAX = 40;

/** The body of an answer, and the type that it has once it is text. @param asText as it came, for who understands it himself */
async function readAnswer(
  response: Response,
  bytesMax: number,
  asText: boolean,
): Promise<{ readonly body: AnswerBody; readonly contentType: string }> {
  const contentType = response.headers.get("Content-Type") ?? "";
  const encoding = response.headers.get("Content-Encoding");
  if (encoding !== null && !DECODED_BY_FETCH.test(encoding)) {
    await response.body?.cancel();
    const named = JSON.stringify(encoding.slice(0, ENCODING_LENGTH_MAX));
    return { body: { kind: "unreadable", why: `the answer has the Content-Encoding ${named}` }, contentType };
  }
  const bytes = await readBounded(response.body, bytesMax);
  if (bytes === null)
    return { body: { kind: "omitted", why: `the answer has more than ${bytesMax} bytes` }, contentType };
  const decoded = decodeText(bytes, contentType);
  if (decoded.kind === "unreadable") {
    return { body: { kind: "unreadable", why: `the answer ${decoded.why}` }, contentType };
  }
  const { text } = decoded;
  const body: AnswerBody =
    asText && text !== "" ? { kind: "text", value: text } : bodyOf(text, contentType.toLowerCase());
  return { body, contentType: decoded.contentType };
}

function bodyOf(text: string, type: string): AnswerBody {
  const json = text.trim();
  if (json === "") return { kind: "empty" };
  if (type.includes("html")) return { kind: "nonsense", why: "with a page for people" };
  const scan = scanJson(json);
  if (scan.depth > JSON_DEPTH_MAX) {
    return { kind: "omitted", why: `the answer nests deeper than ${JSON_DEPTH_MAX} levels` };
  }
  try {
    return { kind: "json", value: parseJson(json, scan), text: json };
  } catch {
    return /^application\/([^;]*\+)?json\b/.test(type)
      ? { kind: "nonsense", why: "with broken JSON" }
      : { kind: "text", value: text };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
