import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isJsonObject } from "../core/json.ts";

/**
 * Requests over kept connections, for tools that send many: a new connection per request would measure the kernel's
 * queue of connections instead of the gateway. Bounded in connections, in time and in what is read.
 */

export interface Call {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON as it is. */
  readonly body?: string;
  /** How long the whole answer may take, in milliseconds. */
  readonly timeoutMs: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

export interface Client {
  /** @throws Error when there is no whole answer; its message is a short code (`ECONNREFUSED`, `timeout`) */
  send(call: Call): Promise<Answer>;
  /** Closes the connections; what is under way fails. */
  close(): void;
}

/** Under the five seconds after which workerd closes a connection: a request should not meet one that is closing. */
const IDLE_MS_MAX = 4000;
/** An answer of the gateway is a few kilobytes. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/**
 * @param base where the gateway is, without a slash at its end
 * @param connectionsMax how many connections there may be at once; past that requests wait for one
 */
export function connect(base: string, connectionsMax: number): Client {
  const settings = {
    keepAlive: true,
    maxSockets: connectionsMax,
    maxFreeSockets: connectionsMax,
    timeout: IDLE_MS_MAX,
  };
  const secure = base.startsWith("https:");
  const agent = secure ? new HttpsAgent(settings) : new HttpAgent(settings);
  const request = secure ? httpsRequest : httpRequest;
  const send = ({ method, path, headers, body, timeoutMs }: Call) =>
    new Promise<Answer>((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(timer);
        reject(new Error(shortCode(error)));
      };
      const sent = request(base + path, { method, headers: { ...headers, ...typeOf(body) }, agent }, (answer) => {
        readText(answer).then((text) => {
          clearTimeout(timer);
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
        }, fail);
      });
      const timer = setTimeout(() => sent.destroy(new Error("timeout")), timeoutMs);
      sent.on("error", fail).end(body);
    });
  return { send, close: () => agent.destroy() };
}

function typeOf(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { "Content-Type": "application/json" };
}

function shortCode(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

function readText(answer: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    answer.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.length > ANSWER_BYTES_MAX) answer.destroy(new Error("answer too large"));
    });
    answer.on("end", () => resolve(text)).on("error", reject);
  });
}

/** @returns an answer's JSON object; one without members when it is none (a proxy's page, say) */
export function jsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
