import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { seeded } from "../core/random.ts";
import { reset, sendAway, sendDone, sendJson } from "./provider-answers.ts";
import { ProviderBook, type ProviderStats, type Verdict } from "./provider-book.ts";
import {
  changeSettings,
  DEFAULTS,
  type Fault,
  type ProviderChange,
  type ProviderOptions,
  type ProviderSettings,
} from "./provider-settings.ts";
import { messageOf, pause } from "./tool.ts";

/** The simulated backend's HTTP side: sockets and timers around the book, which decides. Listens on loopback only. */

export interface Provider {
  readonly url: string;
  /** @param withIds also the ids of the jobs that are done */
  stats(withIds?: boolean): ProviderStats;
  /** @throws Error with one line that names the bad field; then nothing has changed */
  control(change: ProviderChange): ProviderSettings;
  /** Ends at once: jobs that run are not done any more, and their connections break. */
  stop(): Promise<ProviderStats>;
}

/** A job that was running when the provider stopped has had no effect. */
type JobEnd = "done" | "failed" | "stopped";

/** A change of settings is a few numbers. */
const CONTROL_BYTES_MAX = 16 * 1024;
/** A kept connection should outlive any pause between two jobs, or each pause ends in a reset that nobody asked for. */
const KEEP_ALIVE_MS = 600_000;
/** The longest that a timer can be set for. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * @param options over {@link DEFAULTS}, and over a free port
 * @throws Error with one line for people, when the port is taken
 */
export async function startProvider(options: Partial<ProviderOptions>): Promise<Provider> {
  const settings = { ...DEFAULTS, port: 0, ...options };
  const server = new ProviderServer(settings);
  await server.listen(settings.port);
  return server;
}

class ProviderServer implements Provider {
  url = "";
  readonly #book: ProviderBook;
  readonly #server: Server;
  readonly #stopped = new AbortController();
  /** Ends of the jobs that run, for deliveries that join them. */
  readonly #running = new Map<string, Promise<JobEnd>>();
  #boundary: NodeJS.Timeout | undefined;
  #following: Promise<void> = Promise.resolve();

  constructor(settings: ProviderOptions) {
    this.#book = new ProviderBook(settings, seeded(settings.seed), Date.now());
    this.#server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (request, response) => {
      this.#take(request, response);
    });
  }

  async listen(port: number): Promise<void> {
    await this.#open(port);
    this.url = `http://127.0.0.1:${this.#port()}`;
    await this.#followOutages();
  }

  stats(withIds = false): ProviderStats {
    return this.#book.stats(Date.now(), withIds);
  }

  control(change: ProviderChange): ProviderSettings {
    const settings = this.#change(change);
    this.#followOutages();
    return settings;
  }

  async stop(): Promise<ProviderStats> {
    this.#stopped.abort();
    clearTimeout(this.#boundary);
    await this.#following;
    await this.#close();
    return this.stats();
  }

  #change(given: unknown): ProviderSettings {
    this.#book.settings = changeSettings(this.#book.settings, given, this.#book.sinceStartMs(Date.now()));
    return this.#book.settings;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    // Whoever has gone hears nothing of it, and we go on.
    response.on("error", () => undefined);
    const [path, query = ""] = (request.url ?? "/").split("?");
    if (path === "/_stats") sendJson(response, 200, this.stats(new URLSearchParams(query).get("ids") === "1"));
    else if (path === "/_control") void this.#takeControl(request, response);
    else request.resume().on("end", () => void this.#deliver(jobId(request), response));
  }

  async #takeControl(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const settings = this.#change(JSON.parse(await readText(request)));
      // Only when it is answered: the change may be that nobody listens any more.
      response.once("finish", () => this.#followOutages());
      sendJson(response, 200, settings);
    } catch (error) {
      sendJson(response, 400, { error: messageOf(error) });
    }
  }

  async #deliver(givenId: string | null, response: ServerResponse): Promise<void> {
    const { id, verdict } = this.#book.receive(givenId, Date.now());
    switch (verdict.kind) {
      case "repeat":
        sendDone(response, id, "none");
        return;
      case "join":
        answerJob(response, id, (await this.#running.get(id)) ?? "stopped", "none");
        return;
      case "start":
        answerJob(response, id, await this.#start(id, verdict), verdict.fault);
        return;
      case "quota":
        sendJson(response, 429, { error: "over quota" }, { "Retry-After": String(verdict.retryAfterSeconds) });
        return;
      case "turned away":
        sendAway(response, verdict.fault, Date.now());
        return;
      case "outage":
        await this.#failByOutage(response, verdict);
    }
  }

  /** @returns how the job ended, when it does */
  #start(id: string, { jobMs, fails }: Verdict & { kind: "start" }): Promise<JobEnd> {
    const end = pause(jobMs, this.#stopped.signal).then((): JobEnd => {
      this.#running.delete(id);
      if (this.#stopped.signal.aborted) return "stopped";
      this.#book.finish(id, fails);
      return fails ? "failed" : "done";
    });
    this.#running.set(id, end);
    return end;
  }

  async #failByOutage(response: ServerResponse, { outage, retryAfterSeconds }: Verdict & { kind: "outage" }) {
    if (outage.kind === "503") {
      sendJson(response, 503, { error: "down" }, { "Retry-After": String(retryAfterSeconds) });
      return;
    }
    // As long as the outage lasts at the most; whoever waits that long is cut off.
    if (outage.kind === "hang") await pause(retryAfterSeconds * 1000, this.#stopped.signal);
    reset(response);
  }

  /** Opens and closes the door for outages in which nobody listens, and comes back when the next one begins or ends. */
  #followOutages(): Promise<void> {
    // One after the other: a door that is just being closed cannot be opened.
    this.#following = this.#following.then(() => this.#followOnce());
    return this.#following;
  }

  async #followOnce(): Promise<void> {
    clearTimeout(this.#boundary);
    if (this.#stopped.signal.aborted) return;
    const nowMs = Date.now();
    const refuses = this.#book.outage(nowMs)?.kind === "refuse";
    if (refuses && this.#server.listening) await this.#close();
    if (!refuses && !this.#server.listening) await this.#open(Number(new URL(this.url).port));
    const since = this.#book.sinceStartMs(nowMs);
    const boundaries = this.#book.settings.outages.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]);
    const next = Math.min(...boundaries.filter((ms) => ms > since));
    if (!Number.isFinite(next)) return;
    this.#boundary = setTimeout(() => this.#followOutages(), Math.min(next - since, TIMER_MS_MAX));
  }

  async #open(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening").catch(() => {
      throw new Error(`port ${port} is taken; choose another with --port N`);
    });
  }

  async #close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #port(): number {
    // A server that listens on TCP has an address with a port.
    return (this.#server.address() as AddressInfo).port;
  }
}

function answerJob(response: ServerResponse, id: string, end: JobEnd, fault: Fault): void {
  switch (end) {
    case "done":
      sendDone(response, id, fault);
      return;
    case "failed":
      sendJson(response, 500, { error: "the job failed" });
      return;
    case "stopped":
      reset(response);
  }
}

/** The command's id. `Idempotency-Key` is a structured field, so it may stand in quotes. */
function jobId({ headers }: IncomingMessage): string | null {
  const given = headers["idempotency-key"] ?? headers["x-headgate-command-id"];
  return typeof given === "string" && given !== "" ? given.replace(/^"(.*)"$/, "$1") : null;
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > CONTROL_BYTES_MAX) throw new Error(`a change has at most ${CONTROL_BYTES_MAX} bytes`);
  }
  return text;
}
