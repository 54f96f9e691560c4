import { connect, type Socket } from "node:net";
import { AnswerReader } from "./answer-reader.ts";

/**
 * The load: whole requests, written as they are onto kept connections, one at a time on each. It runs in a process of its
 * own (`load-process.ts`) on a core of its own. Nothing is built per request, so it is not what limits a measurement,
 * and every run says how busy its core was.
 */

export interface LoadJob {
  readonly port: number;
  /** Whole HTTP/1.1 requests, sent in turn. */
  readonly requests: readonly string[];
  readonly connections: number;
  /**
   * closed: each connection asks again once it is answered, for so long. open: so many a second whatever comes back, a
   * request's time running from the moment at which it was due. once: every request once.
   */
  readonly pace:
    | { readonly kind: "closed"; readonly seconds: number }
    | { readonly kind: "open"; readonly seconds: number; readonly perSecond: number }
    | { readonly kind: "once" };
  /** Answers that contain this text are counted as `matched`. */
  readonly match?: string;
}

export interface LoadResult {
  readonly sent: number;
  readonly answered: number;
  /** Answers a second while requests were being sent. */
  readonly perSecond: number;
  /** From the first request until the last answer. */
  readonly seconds: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly matched: number;
  /** Milliseconds, nearest rank. */
  readonly p50: number;
  readonly p99: number;
  /** The part of one core that the load itself took, 0 to 1; an open one spins, so as not to miss a moment. */
  readonly busy: number;
  /** Bytes of a whole answer, on average. */
  readonly answerBytes: number;
  /** The first answer, for whoever wonders what was measured. */
  readonly sample: string;
  /** Milliseconds that requests of an open load left later than they were due, 99th of 100: no free connection, or a slow load. */
  readonly lateP99: number;
}

/** Connections that may be open: more would measure the kernel. */
const CONNECTIONS_MAX = 1024;
/** An answer that does not come in this time after the last request is missing. */
const LAST_ANSWER_MS_MAX = 30_000;

interface Line {
  readonly socket: Socket;
  readonly reader: AnswerReader;
  /** When its request was sent, or due. */
  since: number;
}

/** @throws Error when a connection breaks, or an answer is missing: a rate with faults in it is none */
export async function runLoad(job: LoadJob): Promise<LoadResult> {
  const requests = job.requests.map((text) => Buffer.from(text, "latin1"));
  if (requests.length === 0) throw new Error("there is nothing to send");
  const lines = await openLines(job.port, Math.min(CONNECTIONS_MAX, job.connections));
  try {
    return await new Run(job, requests, lines).finish();
  } finally {
    for (const { socket } of lines) socket.destroy();
  }
}

async function openLines(port: number, count: number): Promise<Line[]> {
  return await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Line>((resolve, reject) => {
          const socket = connect({ port, host: "127.0.0.1", noDelay: true });
          socket.once("error", reject);
          socket.once("connect", () => {
            socket.off("error", reject);
            resolve({ socket, reader: new AnswerReader(), since: 0 });
          });
        }),
    ),
  );
}

class Run {
  readonly #job: LoadJob;
  readonly #requests: readonly Buffer[];
  readonly #match: Buffer | null;
  readonly #free: Line[] = [];
  readonly #took: number[] = [];
  readonly #late: number[] = [];
  readonly #byStatus = new Map<number, number>();
  readonly #done = Promise.withResolvers<void>();
  #sent = 0;
  #answered = 0;
  #inTime = 0;
  #matched = 0;
  #bytes = 0;
  #sample = "";
  #began = 0;
  #until = 0;
  #ended = 0;
  #sendingOver = false;

  constructor(job: LoadJob, requests: readonly Buffer[], lines: readonly Line[]) {
    this.#job = job;
    this.#requests = requests;
    this.#match = job.match === undefined ? null : Buffer.from(job.match);
    for (const line of lines) {
      line.socket.on("data", (chunk: Buffer) => this.#take(line, chunk));
      line.socket.on("error", (error) => this.#done.reject(error));
      line.socket.on("close", () => this.#done.reject(new Error("a connection was closed in the middle of a run")));
      this.#free.push(line);
    }
  }

  async finish(): Promise<LoadResult> {
    const { pace } = this.#job;
    const cpu = process.cpuUsage();
    this.#began = performance.now();
    this.#until = pace.kind === "once" ? Number.POSITIVE_INFINITY : this.#began + pace.seconds * 1000;
    if (pace.kind === "open") this.#spin(pace.perSecond);
    else for (const line of this.#free.splice(0)) this.#next(line);
    const deadline = (pace.kind === "once" ? 600_000 : pace.seconds * 1000) + LAST_ANSWER_MS_MAX;
    const timer = setTimeout(() => this.#done.reject(new Error("answers are missing")), deadline);
    await this.#done.promise.finally(() => clearTimeout(timer));
    const used = process.cpuUsage(cpu);
    const seconds = (this.#ended - this.#began) / 1000;
    return this.#result(seconds, (used.user + used.system) / 1e6 / seconds);
  }

  #result(seconds: number, busy: number): LoadResult {
    const took = Float64Array.from(this.#took).sort();
    const late = Float64Array.from(this.#late).sort();
    const { pace } = this.#job;
    return {
      sent: this.#sent,
      answered: this.#answered,
      perSecond: pace.kind === "once" ? this.#answered / seconds : this.#inTime / pace.seconds,
      seconds,
      byStatus: Object.fromEntries(this.#byStatus),
      matched: this.#matched,
      p50: rankOf(took, 0.5),
      p99: rankOf(took, 0.99),
      busy,
      answerBytes: Math.round(this.#bytes / Math.max(1, this.#answered)),
      sample: this.#sample,
      lateP99: rankOf(late, 0.99),
    };
  }

  #write(line: Line, since: number): void {
    line.since = since;
    line.socket.write(this.#requests[this.#sent % this.#requests.length] ?? "");
    this.#sent += 1;
  }

  /** The next request of a closed load on this connection, or none any more. */
  #next(line: Line): void {
    const now = performance.now();
    const over = this.#job.pace.kind === "once" ? this.#sent >= this.#requests.length : now >= this.#until;
    if (!over) this.#write(line, now);
    else {
      this.#sendingOver = true;
      this.#endWhenAnswered();
    }
  }

  /** An open load: looks at the clock all the time, since a timer would come up to a millisecond late. */
  #spin(perSecond: number): void {
    const now = performance.now();
    for (;;) {
      const due = this.#began + (this.#sent * 1000) / perSecond;
      if (due >= this.#until) {
        this.#sendingOver = true;
        this.#endWhenAnswered();
        return;
      }
      if (due > now) break;
      const line = this.#free.pop();
      if (line === undefined) break;
      this.#late.push(now - due);
      this.#write(line, due);
    }
    setImmediate(() => this.#spin(perSecond));
  }

  #take(line: Line, chunk: Buffer): void {
    const answer = line.reader.push(chunk);
    if (answer === null) return;
    const now = performance.now();
    this.#ended = now;
    this.#answered += 1;
    if (now <= this.#until) this.#inTime += 1;
    this.#bytes += answer.bytes.length;
    this.#took.push(now - line.since);
    this.#byStatus.set(answer.status, (this.#byStatus.get(answer.status) ?? 0) + 1);
    if (this.#match !== null && answer.bytes.includes(this.#match)) this.#matched += 1;
    if (this.#sample === "") this.#sample = answer.bytes.toString("latin1");
    if (this.#job.pace.kind !== "open") this.#next(line);
    else {
      this.#free.push(line);
      this.#endWhenAnswered();
    }
  }

  #endWhenAnswered(): void {
    if (this.#sendingOver && this.#answered === this.#sent) this.#done.resolve();
  }
}

function rankOf(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
