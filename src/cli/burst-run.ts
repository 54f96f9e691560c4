import { randomUUID } from "node:crypto";
import { parseRetryAfter } from "../core/retry-after.ts";
import { fixedRate } from "./burst-schedule.ts";
import { type BurstOptions, payloadOf } from "./burst-settings.ts";
import { type Answer, type Client, connect, jsonObject } from "./http-client.ts";
import { messageOf, pause } from "./tool.ts";

/**
 * The stream itself: an open one, which sends when a request is due and never waits for an answer. Bounded all the same:
 * past OPEN_MAX requests without an answer the ones that are due are not sent, and counted.
 */

/** What became of one request. */
export interface BurstAnswer {
  /** Its number, from 0. */
  readonly n: number;
  /** The status and, where there is one, the problem's code; or why there was no answer. */
  readonly label: string;
  /** 0: no answer. */
  readonly status: number;
  /** Null: none was given, or it cannot be read. */
  readonly retryAfterSeconds: number | null;
  /** Present when the command was accepted. */
  readonly commandId?: string;
  /** From sending to the whole answer. */
  readonly answerMs: number;
  /** How long after it was due it was sent. */
  readonly lateMs: number;
}

export interface BurstResult {
  readonly planned: number;
  /** Due while OPEN_MAX others had no answer. */
  readonly unsent: number;
  /** How long the sending took, and should have taken. */
  readonly sendingSeconds: number;
  readonly plannedSeconds: number;
  readonly answers: readonly BurstAnswer[];
}

export interface BurstProgress {
  readonly seconds: number;
  readonly planned: number;
  readonly sent: number;
  /** Sent, and without an answer. */
  readonly open: number;
  readonly counts: ReadonlyMap<string, number>;
}

/** One connection each, and most systems give a process some thousand files. */
const OPEN_MAX = 2000;
/** An answer takes no longer than this, and what it was asked to wait for. */
const ANSWER_MS_MAX = 30_000;
const PROGRESS_MS = 1000;
/** How long answers are still taken after an interruption. */
const LINGER_MS = 1000;

/**
 * Sends the stream and waits for its last answer.
 *
 * @param onProgress called once a second, and once at the end
 * @param interrupted ends the sending; what was answered until then is the result
 */
export async function runBurst(
  options: BurstOptions,
  onProgress: (progress: BurstProgress) => void,
  interrupted: AbortSignal = new AbortController().signal,
): Promise<BurstResult> {
  const stream = new Stream(options, interrupted);
  const timer = setInterval(() => onProgress(stream.progress()), PROGRESS_MS);
  try {
    return await stream.run();
  } finally {
    clearInterval(timer);
    onProgress(stream.progress());
  }
}

class Stream {
  readonly #options: BurstOptions;
  readonly #interrupted: AbortSignal;
  readonly #client: Client;
  readonly #answers: BurstAnswer[] = [];
  readonly #counts = new Map<string, number>();
  readonly #schedule;
  /** Keys of two runs must differ, or the second would be told the answers of the first. */
  readonly #run = randomUUID();
  readonly #began = performance.now();
  #next = 0;
  #unsent = 0;
  #open = 0;

  constructor(options: BurstOptions, interrupted: AbortSignal) {
    this.#options = options;
    this.#interrupted = interrupted;
    this.#client = connect(options.url, OPEN_MAX);
    this.#schedule = fixedRate(options.rate, options.seconds);
  }

  async run(): Promise<BurstResult> {
    const open = new Set<Promise<void>>();
    while (this.#next < this.#schedule.total && !this.#interrupted.aborted) {
      for (const due = this.#schedule.dueBy(this.#elapsedMs()); this.#next < due; this.#next++) {
        const sent = this.#send(this.#next);
        open.add(sent);
        void sent.then(() => open.delete(sent));
      }
      await pause(this.#schedule.dueMs(this.#next) - this.#elapsedMs(), this.#interrupted);
    }
    const sendingSeconds = this.#elapsedMs() / 1000;
    await this.#lastAnswers(open);
    const { total } = this.#schedule;
    return {
      planned: total,
      unsent: this.#unsent,
      sendingSeconds,
      plannedSeconds: this.#schedule.dueMs(total) / 1000,
      answers: this.#answers,
    };
  }

  progress(): BurstProgress {
    const { total } = this.#schedule;
    const sent = this.#next - this.#unsent;
    return { seconds: this.#elapsedMs() / 1000, planned: total, sent, open: this.#open, counts: this.#counts };
  }

  #elapsedMs(): number {
    return performance.now() - this.#began;
  }

  async #send(n: number): Promise<void> {
    if (this.#open >= OPEN_MAX) {
      this.#unsent += 1;
      return;
    }
    const sentMs = this.#elapsedMs();
    const lateMs = sentMs - this.#schedule.dueMs(n);
    this.#open += 1;
    const answer = await this.#call(n);
    this.#open -= 1;
    this.#counts.set(answer.label, (this.#counts.get(answer.label) ?? 0) + 1);
    this.#answers.push({ n, ...answer, lateMs, answerMs: this.#elapsedMs() - sentMs });
  }

  async #call(n: number): Promise<AnswerParts> {
    const { intent, payload, idempotency, wait, key } = this.#options;
    try {
      const answer = await this.#client.send({
        method: "POST",
        path: "/v1/commands",
        headers: {
          Authorization: `Bearer ${key}`,
          ...(idempotency && { "Idempotency-Key": `${this.#run}-${n}` }),
          ...(wait > 0 && { Prefer: `wait=${wait}` }),
        },
        body: `{"intent":${JSON.stringify(intent)},"payload":${payloadOf(payload, n)}}`,
        timeoutMs: ANSWER_MS_MAX + wait * 1000,
      });
      return answerParts(answer, Date.now());
    } catch (error) {
      const why = this.#interrupted.aborted ? "interrupted" : messageOf(error);
      return { label: `no answer (${why})`, status: 0, retryAfterSeconds: null };
    }
  }

  async #lastAnswers(open: ReadonlySet<Promise<void>>): Promise<void> {
    const linger = new AbortController();
    const cut = () => void pause(LINGER_MS, linger.signal).then(() => this.#client.close());
    if (this.#interrupted.aborted) cut();
    else this.#interrupted.addEventListener("abort", cut);
    await Promise.all(open);
    this.#interrupted.removeEventListener("abort", cut);
    linger.abort();
    this.#client.close();
  }
}

type AnswerParts = Omit<BurstAnswer, "n" | "answerMs" | "lateMs">;

/** What is of interest in an answer, whatever it is: a proxy's page has a status too. */
function answerParts({ status, headers, text }: Answer, nowMs: number): AnswerParts {
  const body = jsonObject(text);
  const waitMs = parseRetryAfter(headers["retry-after"], nowMs);
  const retryAfterSeconds = waitMs === null ? null : Math.ceil(waitMs / 1000);
  const label = typeof body.code === "string" ? `${status} ${body.code}` : String(status);
  const { commandId } = body;
  const parts = { label, status, retryAfterSeconds };
  return typeof commandId === "string" && status < 300 ? { ...parts, commandId } : parts;
}
