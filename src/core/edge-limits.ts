import { Holding } from "./holding.ts";
import type { LeaseAsk } from "./lease.ts";
import { type CompiledLimits, compileLimits } from "./limiter.ts";
import type { Limits, Scope } from "./policy.ts";
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
  readonly #holdings = new Map<string, Holding>();
  readonly #known = new WeakMap<Limits, Known>();
  readonly #max: number;
  /** What tells this isolate from others. */
  readonly isolate: number;

  /** @param isolate a number that no other isolate has */
  constructor(isolate: number, max: number = HOLDINGS_MAX) {
    this.isolate = isolate;
    this.#max = max;
  }

  get size(): number {
    return this.#holdings.size;
  }

  /** What is held for these subjects, as it stands: perhaps nothing yet. */
  holding({ limiter, limits, subjects }: Counted): Holding {
    const { compiled, scopes } = this.#knownOf(limits);
    const name = nameOf(limiter, scopes, subjects);
    const found = this.#holdings.get(name);
    if (found !== undefined) {
      found.goBy(compiled);
      return found;
    }
    const made = new Holding(compiled, subjects, scopes.length === 0);
    if (this.#holdings.size >= this.#max) {
      for (const oldest of this.#holdings.keys()) {
        this.#holdings.delete(oldest);
        break;
      }
    }
    this.#holdings.set(name, made);
    return made;
  }

  /** Ends all that is held of a limiter, and gives what it is to be told. */
  takeAll(limiter: string): { readonly lease: LeaseAsk; readonly subjects: Subjects }[] {
    return this.#of(limiter).flatMap(([, holding]) => {
      const lease = holding.end();
      return lease === null ? [] : [{ lease, subjects: holding.subjects }];
    });
  }

  /** Nothing that was held of a limiter is used again: it has other limits now, or was forgiven. */
  forget(limiter: string): void {
    for (const [name] of this.#of(limiter)) this.#holdings.delete(name);
  }

  #of(limiter: string): [string, Holding][] {
    return [...this.#holdings].filter(([name]) => name === limiter || name.startsWith(limiter + SEPARATOR));
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

/** In no tenant's id and no address. */
const SEPARATOR = "\n";

/** Requests that are counted by the same meters have one name, and no others. A length stands before each subject. */
function nameOf(limiter: string, scopes: readonly Scope[], subjects: Subjects): string {
  let name = limiter;
  for (const scope of scopes) {
    const subject = subjectOf(scope, subjects);
    name += subject === null ? `${SEPARATOR}-` : `${SEPARATOR}${subject.length}:${subject}`;
  }
  return name;
}
