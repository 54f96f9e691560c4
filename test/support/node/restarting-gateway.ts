import { type Answer, type Call, type Client, connect, jsonObject } from "../../../src/cli/http-client.ts";
import { pause } from "../../../src/cli/tool.ts";
import { type GatewayProcess, startGatewayProcess } from "./process.ts";

/**
 * A gateway that is killed and started again on the same folder under the feet of its callers, who send what was not
 * answered again until it is: clients with an address and patience, and nothing else.
 */

const CONNECTIONS_MAX = 128;
const ANSWER_MS_MAX = 15_000;
const AGAIN_MS = 50;
/** A kill comes at any moment of so long: right after an answer less would be under way. */
const KILL_WITHIN_MS = 20;

export class RestartingGateway {
  readonly #folder: string;
  readonly #signal: AbortSignal;
  #dying: Promise<void> = Promise.resolve();
  #running: Promise<{ readonly process: GatewayProcess; readonly client: Client }>;
  /** Requests that were sent once more: they broke off, or were told to come back. */
  repeats = 0;
  /** Answers that say: this was done when it was sent before. */
  replays = 0;
  kills = 0;

  /** @param signal ends all waiting: requests are given up */
  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder;
    this.#signal = signal;
    this.#running = this.#start();
  }

  /** Where it is now. */
  async url(): Promise<string> {
    return (await this.#running).process.url;
  }

  /** Every process of it dies at once, in the middle of what it does, and another one starts. */
  killAndStart(): void {
    this.kills += 1;
    this.#dying = this.#dying.then(() => pause(Math.random() * KILL_WITHIN_MS, this.#signal)).then(() => this.#die());
  }

  /** Only now do callers wait: until then they have kept it busy. */
  #die(): void {
    this.#running = this.#running.then(async ({ process, client }) => {
      await process.kill();
      client.close();
      return await this.#start();
    });
    // Whoever sends next hears of a start that has failed.
    this.#running.catch(() => undefined);
  }

  /** Sends until there is an answer that is not "come back later". The request must bear being sent twice. */
  async send(call: Omit<Call, "timeoutMs">): Promise<Answer> {
    for (;;) {
      this.#signal.throwIfAborted();
      const { client } = await this.#running;
      const answer = await client.send({ ...call, timeoutMs: ANSWER_MS_MAX }).catch(() => null);
      if (answer !== null && !isForLater(answer)) {
        if (answer.headers["idempotency-replayed"] !== undefined) this.replays += 1;
        return answer;
      }
      this.repeats += 1;
      await pause(AGAIN_MS, this.#signal);
    }
  }

  async stop(): Promise<void> {
    await this.#dying;
    const { process, client } = await this.#running;
    client.close();
    await process.kill();
  }

  async #start() {
    const process = await startGatewayProcess(this.#folder);
    return { process, client: connect(process.url, CONNECTIONS_MAX) };
  }
}

function isForLater({ status, text }: Answer): boolean {
  if (status === 409) return jsonObject(text).code === "idempotency_in_flight";
  return status === 429 || status === 503 || status === 504;
}
