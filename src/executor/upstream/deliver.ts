import type { AnswerBody, AttemptResult } from "../../core/delivery/answer.ts";
import { JSON_DEPTH_MAX, type Json, jsonDepth } from "../../core/json.ts";
import { readBounded } from "../../wire/read-bounded.ts";
import type { DeliverableCommand, DeliveringExecutor } from "../port.ts";
import { faultsForPath, routeOf, type UpstreamRoutes, urlOf } from "./routes.ts";

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
      const answered = (body: AnswerBody): AttemptResult => {
        return { kind: "answered", status, retryAfter: headers.get("Retry-After"), body };
      };
      return await readAnswer(response, responseBytesMax).then(answered, (error) =>
        // A no is a no, whatever becomes of its words; a yes that broke off may not have been one.
        response.ok ? broken(error) : answered({ kind: "empty" }),
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
    if (!routes.intents.has(intent)) return { fault: `no route is declared for ${intent} any more` };
    const faults = faultsForPath(routes, intent, payload);
    if (faults.length > 0) return { fault: `its route needs ${faults.map(({ path }) => path).join(", ")}` };
    const route = routeOf(routes, intent);
    const hasBody = route.method !== "GET";
    return new Request(urlOf(url, route, payload), {
      method: route.method,
      headers: this.#headers(command, hasBody),
      // Where a redirect leads has not been configured, and a redirected POST may become a GET.
      redirect: "manual",
      signal,
      ...(hasBody ? { body: JSON.stringify(payload) } : {}),
    });
  }

  #headers({ id, tenant, intent, attempt, headers }: DeliverableCommand, hasBody: boolean): Headers {
    const { authorization } = this.#settings;
    const sent = new Headers(headers);
    sent.set(...ownerHeader(tenant));
    sent.set("X-Headgate-Intent", intent);
    sent.set("X-Headgate-Command-Id", id);
    sent.set("X-Headgate-Attempt", String(attempt));
    sent.set("Idempotency-Key", id);
    if (authorization !== "") sent.set("Authorization", authorization);
    if (hasBody) sent.set("Content-Type", "application/json");
    return sent;
  }
}

/** Whose command it is. Ids may have any characters, and a header may not. An address is never spelt as a tenant. */
function ownerHeader(owner: string): [string, string] {
  const [kind, name] = [owner.slice(0, owner.indexOf(":")), owner.slice(owner.indexOf(":") + 1)];
  return [kind === "tenant" ? "X-Headgate-Tenant" : "X-Headgate-Address", encodeURIComponent(name)];
}

async function readAnswer(response: Response, bytesMax: number): Promise<AnswerBody> {
  const bytes = await readBounded(response.body, bytesMax);
  if (bytes === null) return { kind: "omitted", why: `the answer has more than ${bytesMax} bytes` };
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === "") return { kind: "empty" };
  const type = (response.headers.get("Content-Type") ?? "").toLowerCase();
  if (type.includes("html")) return { kind: "nonsense", why: "with a page for people" };
  if (jsonDepth(text) > JSON_DEPTH_MAX) {
    return { kind: "omitted", why: `the answer nests deeper than ${JSON_DEPTH_MAX} levels` };
  }
  const value = parseJson(text);
  if (value !== undefined) return { kind: "json", value };
  return /^application\/([^;]*\+)?json\b/.test(type)
    ? { kind: "nonsense", why: "with broken JSON" }
    : { kind: "text", value: text };
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
