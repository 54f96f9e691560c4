import { type Client, connect } from "./http-client.ts";
import { lookAtQueue, type QueueLook, type QueueStatus } from "./queue-status.ts";
import { pause } from "./tool.ts";

/** Looking at a queue all through a burst, and remembering what the proof is made of. */

/** So often that a time is known to a quarter of a second. */
const EVERY_MS = 250;
/** A table that changes faster cannot be read. */
const LOOKS_PER_SHOW = 4;

export interface QueueRecord {
  readonly peakDepth: number;
  readonly deepestSeen: number;
  /** The oldest command's wait when the sending ended. */
  readonly oldestWaitSeconds: number;
  /** Seconds after the start at which nothing waited any more; null: it never came to that. */
  readonly emptyAtSeconds: number | null;
}

export class QueueWatch {
  readonly #client: Client;
  readonly #key: string;
  readonly #began = performance.now();
  #sendingEndedMs = Number.POSITIVE_INFINITY;
  #record: QueueRecord = { peakDepth: 0, deepestSeen: 0, oldestWaitSeconds: 0, emptyAtSeconds: null };
  #inFlight = 0;

  /** @param key a tenant's credential */
  constructor(url: string, key: string) {
    this.#client = connect(url, 1);
    this.#key = key;
  }

  get record(): QueueRecord {
    return this.#record;
  }

  seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  /** From now on an empty queue is the end. */
  sendingEnded(): void {
    this.#sendingEndedMs = performance.now();
  }

  /**
   * Looks until all that was sent has ended, or the signal aborts.
   *
   * @param show called once a second
   */
  async untilDone(show: (look: QueueLook) => void, ended: AbortSignal): Promise<void> {
    for (let looks = 0; !ended.aborted && !this.#isDone(); looks++) {
      const askedMs = performance.now();
      const look = await lookAtQueue(this.#client, this.#key);
      if ("status" in look) this.#note(look.status, askedMs);
      if (looks % LOOKS_PER_SHOW === 0) show(look);
      await pause(askedMs + EVERY_MS - performance.now(), ended);
    }
    this.#client.close();
  }

  #isDone(): boolean {
    return this.#record.emptyAtSeconds !== null && this.#inFlight === 0;
  }

  #note(status: QueueStatus, askedMs: number): void {
    const { depth, criticalDepth, peakDepth, oldestWaitSeconds, retrying = 0, deferred = 0 } = status;
    const sending = askedMs < this.#sendingEndedMs;
    const waiting = depth + criticalDepth + retrying + deferred;
    const before = this.#record;
    this.#inFlight = status.inFlight;
    this.#record = {
      peakDepth: Math.max(before.peakDepth, peakDepth),
      deepestSeen: Math.max(before.deepestSeen, depth),
      oldestWaitSeconds: sending ? oldestWaitSeconds : before.oldestWaitSeconds,
      emptyAtSeconds: before.emptyAtSeconds ?? (sending || waiting > 0 ? null : (askedMs - this.#began) / 1000),
    };
  }
}
