import { connect, type Socket } from "node:net";
import { AnswerReader } from "./answer-reader.ts";
import type { LoadJob, LoadResult } from "./load-job.ts";

/**
 * The load: whole requests, written as they are onto kept connections, one at a time on each. It runs in a process of its
 * own (`load-process.ts`) on a core of its own. Nothing is built per request, so it is not what limits a measurement,
 * and every run says how busy its core was.
 */

/** Connections that may be open: more would measure the kernel. */
const CONNECTIONS_MAX = 1024;
/** A million checks on a busy machine. */
const ONCE_MS_MAX = 3_600_000;
/** An answer that does not come in this time after the last request is missing. */
const LAST_ANSWER_MS_MAX = 60_000;

/** One connection, and the request that is under way on it. */
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
  const lines = await openLines(job.ports, Math.min(CONNECTIONS_MAX, job.connections));
  try {
    return await new Run(job, requests, lines).finish();
  } finally {
    for (const { socket } of lines) socket.destroy();
  }
}

async function openLines(ports: readonly number[], count: number): Promise<Line[]> {
  return await Promise.all(
    Array.from(
      { length: count },
      (_, n) =>
        new Promise<Line>((resolve, reject) => {
          const socket = connect({ port: ports[n % ports.length] ?? 0, host: "127.0.0.1", noDelay: true });
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
    const deadline = (pace.kind === "once" ? ONCE_MS_MAX : pace.seconds * 1000) + LAST_ANSWER_MS_MAX;
    const timer = setTimeout(() => this.#done.reject(this.#missing()), deadline);
    await this.#done.promise.finally(() => clearTimeout(timer));
    const used = process.cpuUsage(cpu);
    const seconds = (this.#ended - this.#began) / 1000;
    return this.#result(seconds, (used.user + used.system) / 1e6 / seconds);
  }

  #missing(): Error {
    const got = JSON.stringify(Object.fromEntries(this.#byStatus));
    return new Error(`answers are missing: ${this.#sent} sent, answered ${got}, the first one:\n${this.#sample}`);
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
    line.socket.write(this.#requests[this.#ordinal() % this.#requests.length] ?? "");
    this.#sent += 1;
  }

  #ordinal(): number {
    return Math.floor(this.#sent / (this.#job.repeat ?? 1));
  }

  /** The next request of a closed load on this connection, or none any more. */
  #next(line: Line): void {
    const now = performance.now();
    const over = this.#job.pace.kind === "once" ? this.#ordinal() >= this.#requests.length : now >= this.#until;
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
      // A server that has fallen behind is not sent the rest when it is over.
      if (Math.max(due, now) >= this.#until) {
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
