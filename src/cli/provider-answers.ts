import type { ServerResponse } from "node:http";
import type { Fault } from "./provider-settings.ts";

/** What the simulated backend sends: plain JSON, and the answers that a client should not be able to choke on. */

/** More than any client should read of an answer, and no burden for this machine. */
const HUGE_BYTES = 8 * 1024 * 1024;
/** How far ahead a Retry-After that is a date lies: far enough to be seen, near enough to be waited for in a test. */
const DATE_AHEAD_MS = 2000;

/** Ends an answer. @param body anything that JSON can hold */
export function sendJson(response: ServerResponse, status: number, body: object, headers?: Record<string, string>) {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Breaks the connection as a machine does that goes down: whoever waits is told by the network, not by us. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Tells of a job that is done, in the way of the fault that befell it. */
export function sendDone(response: ServerResponse, id: string, fault: Fault): void {
  const body = { done: true, id };
  switch (fault) {
    case "reset":
      reset(response);
      return;
    case "close-mid-body":
      closeMidBody(response, JSON.stringify(body));
      return;
    case "html":
      response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><h1>It works!</h1>\n");
      return;
    case "huge":
      // Without a length, so that only reading it shows how long it is.
      response.writeHead(200, { "Content-Type": "application/json" });
      response.write(`{"done":true,"id":${JSON.stringify(id)},"padding":"`);
      response.end(`${"x".repeat(HUGE_BYTES)}"}`);
      return;
    default:
      sendJson(response, 200, body);
  }
}

function closeMidBody(response: ServerResponse, text: string): void {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.socket?.destroy());
}

/** Turns a job away before it has started, in the way of one of the faults that do. */
export function sendAway(response: ServerResponse, fault: Fault, nowMs: number): void {
  // A client that follows the redirect makes a job of it, without an id: `withoutId` tells.
  if (fault === "redirect") sendJson(response, 302, {}, { Location: "/elsewhere" });
  else sendJson(response, 503, { error: "try again later" }, { "Retry-After": strangeRetryAfter(fault, nowMs) });
}

function strangeRetryAfter(fault: Fault, nowMs: number): string {
  if (fault === "retry-after-date") return new Date(nowMs + DATE_AHEAD_MS).toUTCString();
  return fault === "huge-retry-after" ? "99999999999999999999" : "soon";
}
