/**
 * Polls that are held open until there is a job for them: who waits for what, the oldest first. Memory only, since a
 * poll is nothing but its open request. It takes no place in the queue and is charged for nothing while it is held.
 *
 * Whether there is a job, and how it is handed out, is left to polling.ts.
 */

/** Held in one object: each is a promise, a timer and an open request. */
const POLLS_MAX = 10_000;
/** Of one tenant: its polls must not be all that there are. */
export const POLLS_PER_TENANT_MAX = 1_000;

/** Whose jobs of which type. */
export interface JobKind {
  readonly tenant: string;
  readonly type: string;
}

export interface Poll extends JobKind {
  /** Names it, so that its caller can leave. */
  readonly token: string;
  /** Its age: of two polls the one with the lower place came first. It keeps it when it comes back with nothing. */
  readonly place: number;
}

/** Why a poll goes on: there may be a job for it, or its time is over (or its caller has gone). */
export type Woken = "job" | "over";

interface Held extends Poll {
  readonly go: (woken: Woken) => void;
}

export class JobPolls {
  /** In the order of their places; a line that is empty is not there. */
  readonly #lines = new Map<string, Held[]>();
  readonly #byToken = new Map<string, Held>();
  readonly #byTenant = new Map<string, number>();
  #places = 0;

  /** The place of a poll that has just come. */
  newPlace(): number {
    return ++this.#places;
  }

  /** How many wait for such jobs. */
  waiting(kind: JobKind): number {
    return this.#lines.get(nameOf(kind))?.length ?? 0;
  }

  /** Why one more poll of a tenant cannot be held; null when it can. */
  fullFor(tenant: string): "tenant" | "all" | null {
    if ((this.#byTenant.get(tenant) ?? 0) >= POLLS_PER_TENANT_MAX) return "tenant";
    return this.#byToken.size >= POLLS_MAX ? "all" : null;
  }

  /** Resolves when the poll is woken, has left, or has waited for `ms`. {@link fullFor} has been asked before. */
  hold(poll: Poll, ms: number): Promise<Woken> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => held.go("over"), ms);
      const held: Held = {
        ...poll,
        go: (woken) => {
          clearTimeout(timer);
          this.#remove(held);
          resolve(woken);
        },
      };
      this.#add(held);
    });
  }

  /** There may be a job of this kind: the oldest poll goes on. False when nobody waits for one. */
  wake(kind: JobKind): boolean {
    const [oldest] = this.#lines.get(nameOf(kind)) ?? [];
    oldest?.go("job");
    return oldest !== undefined;
  }

  /** The caller has gone. */
  leave(token: string): void {
    this.#byToken.get(token)?.go("over");
  }

  #add(held: Held): void {
    const line = this.#lines.get(nameOf(held)) ?? [];
    // Who comes back belongs near the front, everybody else at the end.
    const behind = line.findIndex(({ place }) => place > held.place);
    line.splice(behind < 0 ? line.length : behind, 0, held);
    this.#lines.set(nameOf(held), line);
    this.#byToken.set(held.token, held);
    this.#byTenant.set(held.tenant, (this.#byTenant.get(held.tenant) ?? 0) + 1);
  }

  #remove(held: Held): void {
    const line = this.#lines.get(nameOf(held)) ?? [];
    const at = line.indexOf(held);
    if (at >= 0) line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(nameOf(held));
    this.#byToken.delete(held.token);
    const left = (this.#byTenant.get(held.tenant) ?? 0) - 1;
    if (left <= 0) this.#byTenant.delete(held.tenant);
    else this.#byTenant.set(held.tenant, left);
  }
}

/** One text for one kind: a type may have any characters, so the tenant's length goes first. */
export function nameOf({ tenant, type }: JobKind): string {
  return `${tenant.length}:${tenant}${type}`;
}
