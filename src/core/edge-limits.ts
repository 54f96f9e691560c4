import { Holding } from "./holding.ts";
import type { EndedLease } from "./lease.ts";
import { type CompiledLimits, compileLimits } from "./limiter.ts";
import type { Limits, Scope } from "./policy.ts";
import { GivenBack } from "./receipts.ts";
import { type Subjects, subjectOf } from "./subjects.ts";

/**
 * Layer 1 as far as an isolate can decide it by itself: by what it has leased, and by what it was last told of meters
 * that are used up. Plain data, bounded; nothing of it is older than a second when it is used.
 */

/** About 1 kB each: an isolate has 128 MB. Past this the one that was asked for longest ago is forgotten. */
const HOLDINGS_MAX = 10_000;

/** Who is counted, as an isolate knows it. */
export interface Counted {
  /** Its limiter object, by a name that no other has. */
  readonly limiter: string;
  /** As D1 told them. */
  readonly limits: Limits;
  readonly subjects: Subjects;
}

/** Limits with what can be told of them once. */
interface Known {
  readonly compiled: CompiledLimits;
  /** The scopes of single subjects that they count. */
  readonly scopes: readonly Scope[];
}

export class EdgeLimits {
  /** By limiter, and by whose use is counted there. */
  readonly #callers = new Map<string, Map<string, Holding>>();
  readonly #known = new WeakMap<Limits, Known>();
  readonly #max: number;
  /** Charges that were given back here. They outlive what was held, which may be forgotten at any time. */
  readonly given = new GivenBack();
  #size = 0;
  /** What tells this isolate from others. */
  readonly isolate: number;

  /** @param isolate a number that no other isolate has */
  constructor(isolate: number, max: number = HOLDINGS_MAX) {
    this.isolate = isolate;
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /** What is held for these subjects, as it stands: perhaps nothing yet. */
  holding({ limiter, limits, subjects }: Counted): Holding {
    const { compiled, scopes } = this.#knownOf(limits);
    const name = nameOf(scopes, subjects);
    const found = this.#callers.get(limiter)?.get(name);
    if (found !== undefined) {
      found.goBy(compiled);
      return found;
    }
    if (this.#size >= this.#max) this.#forgetOldest();
    const made = new Holding(compiled, subjects, scopes.length === 0, this.given);
    const own = this.#callers.get(limiter) ?? new Map<string, Holding>();
    own.set(name, made);
    this.#callers.set(limiter, own);
    this.#size += 1;
    return made;
  }

  /** Ends all that is held of a limiter, and gives what it is to be told. */
  takeAll(limiter: string): EndedLease[] {
    return [...(this.#callers.get(limiter)?.values() ?? [])].flatMap((holding) => {
      const lease = holding.end();
      return lease === null ? [] : [{ lease, subjects: holding.subjects }];
    });
  }

  /** Nothing that was held of a limiter is used again: it has other limits now, or was forgiven. */
  forget(limiter: string): void {
    this.#size -= this.#callers.get(limiter)?.size ?? 0;
    this.#callers.delete(limiter);
  }

  /** Of the limiter that was asked for first, what was asked for first. */
  #forgetOldest(): void {
    for (const [limiter, own] of this.#callers) {
      const [oldest] = own.keys();
      if (oldest !== undefined && own.delete(oldest)) this.#size -= 1;
      if (own.size === 0) this.#callers.delete(limiter);
      return;
    }
  }

  #knownOf(limits: Limits): Known {
    const known = this.#known.get(limits);
    if (known !== undefined) return known;
    const scopes = new Set(limits.policies.map(({ scope }) => scope));
    scopes.delete("tenant");
    const made = { compiled: compileLimits(limits), scopes: [...scopes] };
    this.#known.set(limits, made);
    return made;
  }
}

/**
 * Requests of a limiter that are counted by the same meters have one name, and no others: each scope is named, and a length
 * stands before each subject, which may hold anything.
 */
function nameOf(scopes: readonly Scope[], subjects: Subjects): string {
  let name = "";
  for (const scope of scopes) {
    const subject = subjectOf(scope, subjects);
    name += subject === null ? `${scope}-` : `${scope}${subject.length}:${subject}`;
  }
  return name;
}
