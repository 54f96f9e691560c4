/**
 * Makes one commit of the calls that come while a commit is under way. A commit waits for the disk, and the platform
 * does not merge those of different calls: one after the other they would wait for it each. An idle object runs a call at
 * once, so that nobody waits for company.
 */

export interface CommitHooks {
  /** Runs steps in one event; it must not wait. */
  readonly together: (steps: readonly (() => void)[]) => void;
  /** Resolves when what was written is on disk. */
  readonly committed: () => Promise<void>;
  /** Either has failed: memory may no longer say what the disk says. */
  readonly failed: (error: unknown) => void;
}

/** A call that waits for the commit that is under way. */
interface Pending {
  readonly token: string;
  readonly make: () => void;
  readonly drop: () => void;
}

/** Calls in one commit: their answers wait for all of them, and other calls for their turn. */
export const GROUP_MAX = 128;

export class GroupCommit {
  readonly #hooks: CommitHooks;
  #pending: Pending[] = [];
  #commits = false;

  constructor(hooks: CommitHooks) {
    this.#hooks = hooks;
  }

  /** Makes a call in the next commit. @returns what it gives; undefined when its caller has gone before its turn */
  run<T>(token: string, call: () => Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const make = () => resolve(call());
      if (this.#commits) this.#pending.push({ token, make, drop: () => resolve(undefined) });
      else void this.#commit([make]);
    });
  }

  /** The caller has gone: its call is not made, if it still waits. */
  leave(token: string): void {
    const gone = this.#pending.filter((one) => one.token === token);
    if (gone.length === 0) return;
    this.#pending = this.#pending.filter((one) => one.token !== token);
    for (const { drop } of gone) drop();
  }

  async #commit(first: (() => void)[]): Promise<void> {
    this.#commits = true;
    try {
      for (let steps = first; steps.length > 0; steps = this.#pending.splice(0, GROUP_MAX).map(({ make }) => make)) {
        this.#hooks.together(steps);
        await this.#hooks.committed();
      }
    } catch (error) {
      this.#hooks.failed(error);
    }
    this.#commits = false;
  }
}
