import type { AnswerBody, AttemptResult } from "../../core/delivery/answer.ts";
import { JSON_DEPTH_MAX, type Json, jsonDepth } from "../../core/json.ts";
import { readBounded } from "../../wire/read-bounded.ts";
import type { DeliverableCommand, DeliveringExecutor } from "../port.ts";
import { routeOf, type UpstreamRoutes, urlOf } from "./routes.ts";
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
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    try {
      const response = await fetch(this.#request(command, deadline.signal));
      const asText = wholeOf(command.headers) !== null;
      const body = await readAnswer(response, responseBytesMax, asText);
      const contentType = response.headers.get("Content-Type") ?? "";
      const retryAfter = response.headers.get("Retry-After");
      return { kind: "answered", status: response.status, retryAfter, body, contentType };
    } catch (error) {
      if (deadline.signal.aborted) return { kind: "broken", code: "timeout", why: `no answer in ${timeoutMs} ms` };
      return { kind: "broken", code: "unreachable", why: reasonOf(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  #request({ id, tenant, intent, attempt, payload, headers }: DeliverableCommand, signal: AbortSignal): Request {
    const { url, routes, authorization } = this.#settings;
    const sent = new Headers(realHeaders(headers));
    sent.set(...ownerHeader(tenant));
    sent.set("X-Headgate-Intent", intent);
    sent.set("X-Headgate-Command-Id", id);
    sent.set("X-Headgate-Attempt", String(attempt));
    sent.set("Idempotency-Key", id);
    if (authorization !== "") sent.set("Authorization", authorization);
    const whole = wholeOf(headers);
    if (whole !== null) {
      const body = whole.method === "GET" ? null : wholeBody(payload);
      const { method, path } = whole;
      return new Request(wholeUrl(url, path), { method, headers: sent, redirect: "manual", signal, body });
    }
    const route = routeOf(routes, intent);
    const hasBody = route.method !== "GET";
    if (hasBody) sent.set("Content-Type", "application/json");
    return new Request(urlOf(url, route, payload), {
      method: route.method,
      headers: sent,
      // Where a redirect leads has not been configured, and a redirected POST may become a GET.
      redirect: "manual",
      signal,
      ...(hasBody ? { body: JSON.stringify(payload) } : {}),
    });
  }
}

/** @param asText as it came, for who understands it himself */
async function readAnswer(response: Response, bytesMax: number, asText: boolean): Promise<AnswerBody> {
  const bytes = await readBounded(response.body, bytesMax);
  if (bytes === null) return { kind: "too_large", bytesMax };
  if (bytes.byteLength === 0) return { kind: "empty" };
  if (asText) return { kind: "text", value: new TextDecoder().decode(bytes) };
  const type = (response.headers.get("Content-Type") ?? "").toLowerCase();
  if (type.includes("html")) return { kind: "nonsense", why: "with a page for people" };
  const text = new TextDecoder().decode(bytes);
  const value = parseJson(text);
  if (value !== undefined) return { kind: "json", value };
  return type.includes("json") ? { kind: "nonsense", why: "with broken JSON" } : { kind: "text", value: text };
}

function parseJson(text: string): Json | undefined {
  if (jsonDepth(text) > JSON_DEPTH_MAX) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
