import type { BrowserContext } from "playwright-core";

/**
 * What a page of ours should never do: say an error on the console, throw, have a request of its own fail or be
 * answered with an error, or ask another host for anything. A test may expect some of it, and then it must come.
 */

/** The page itself gave up: it was left, or it stopped what it no longer needed. */
const GAVE_UP = "net::ERR_ABORTED";

/** What the browser asks for by itself for what is no page of ours and names no icon, such as plain JSON. */
const UNNAMED_ICON = "/favicon.ico";

export class Problems {
  readonly #origin: string;
  readonly #seen: string[] = [];
  readonly #expected: readonly RegExp[];

  constructor(context: BrowserContext, origin: string, expected: readonly RegExp[]) {
    this.#origin = origin;
    this.#expected = expected;
    context.on("console", (message) => {
      if (message.type() !== "error" || message.location().url.endsWith(UNNAMED_ICON)) return;
      this.#seen.push(`console: ${message.text()}`);
    });
    context.on("weberror", (error) => this.#seen.push(`thrown: ${error.error().message}`));
    context.on("request", (request) => this.#asked(request.url()));
    context.on("requestfailed", (request) => {
      const why = request.failure()?.errorText ?? "";
      if (why !== GAVE_UP) this.#seen.push(`failed: ${request.method()} ${request.url()} ${why}`);
    });
    context.on("response", (response) => {
      if (response.status() < 400) return;
      this.#seen.push(`answered ${response.status()}: ${response.request().method()} ${response.url()}`);
    });
    context.on("page", (page) => page.on("websocket", (socket) => this.#asked(socket.url())));
  }

  /** All of it, expected or not. */
  seen(): readonly string[] {
    return this.#seen;
  }

  /** What was not expected, and what was and did not come. */
  left(): readonly string[] {
    const surprises = this.#seen.filter((problem) => !this.#expected.some((pattern) => pattern.test(problem)));
    const missing = this.#expected.filter((pattern) => !this.#seen.some((problem) => pattern.test(problem)));
    return [...surprises, ...missing.map((pattern) => `expected, and did not come: ${pattern}`)];
  }

  #asked(url: string): void {
    const { protocol, origin } = new URL(url);
    const isNetwork = protocol.startsWith("http") || protocol.startsWith("ws");
    if (isNetwork && origin !== this.#origin) this.#seen.push(`another host: ${url}`);
  }
}
