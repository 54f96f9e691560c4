/**
 * What commands and timers have made that somebody may be waiting for: instances that ended, jobs that can be had now.
 * Memory only, and told once: who waits also looks for itself, so that a notice lost with the memory loses nothing.
 */

/** Kept until they are taken: more than one turn of the writer makes, and no burden when nobody takes them. */
const NOTICES_MAX = 10_000;

export interface TakenNotices {
  /** Sequences of the instances, in the order in which they ended. */
  readonly endedInstances: readonly number[];
  /** One entry a job. */
  readonly availableJobs: readonly { readonly tenant: string; readonly type: string }[];
}

export class Notices {
  #ended: number[] = [];
  #jobs: { tenant: string; type: string }[] = [];

  instanceEnded(sequence: number): void {
    if (this.#ended.length < NOTICES_MAX) this.#ended.push(sequence);
  }

  jobAvailable(tenant: string, type: string): void {
    if (this.#jobs.length < NOTICES_MAX) this.#jobs.push({ tenant, type });
  }

  /** All since the last call. */
  take(): TakenNotices {
    const taken = { endedInstances: this.#ended, availableJobs: this.#jobs };
    this.#ended = [];
    this.#jobs = [];
    return taken;
  }
}
