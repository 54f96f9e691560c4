import { END_STATES, type EndCounts, type EndState, NO_ENDS } from "../core/command.ts";
import { Broken } from "./broken.ts";

/**
 * What the engine promises, held against books of its own: they are kept outside of the object, hear only of what was
 * committed, and lose nothing when it dies.
 */

/** More than the keys of all callers that may still come back. */
const KEYS_MAX = 10_000;

/** What the object says of itself after an event. */
export interface EngineView {
  readonly depth: number;
  readonly criticalDepth: number;
  readonly running: number;
  readonly betweenAttempts: number;
  /** Saved with no work planned. */
  readonly deferred: number;
  /** Null: there is none. */
  readonly bound: number | null;
  readonly accepted: number;
  readonly ends: EndCounts;
}

interface Known {
  readonly id: string;
  delivered: number;
}

interface Wait {
  readonly untilMs: number;
  abandoned: boolean;
}

export class EngineChecks {
  /** Commands that were accepted and have not ended. */
  readonly #inFlight = new Map<number, Known>();
  /** Keys that were used, with their commands: the latest of them. */
  readonly #keys = new Map<string, number>();
  readonly #waits = new Map<string, Wait>();
  #accepted = 0;
  #ends: EndCounts = NO_ENDS;
  /** The engine's counts when they were last compared: they are a new object whenever they change. */
  #endsSeen: EndCounts = NO_ENDS;
  #deliveries = 0;
  #repeats = 0;

  get accepted(): number {
    return this.#accepted;
  }

  get ends(): EndCounts {
    return this.#ends;
  }

  /** Attempts that reached the backend, and how many of them were not the first of their command. */
  get deliveries(): { readonly all: number; readonly repeats: number } {
    return { all: this.#deliveries, repeats: this.#repeats };
  }

  /** Committed: a command is taken, and its caller is told so. @param key the caller's own name for it */
  took(sequence: number, id: string, key: string | null): void {
    if (key !== null) this.#tookKey(sequence, key);
    if (this.#inFlight.has(sequence)) throw new Broken(3, `two commands were accepted as number ${sequence}`);
    this.#inFlight.set(sequence, { id, delivered: 0 });
    this.#accepted += 1;
  }

  /** Invariant 7, as a caller sees it: however often it asks with one key, one command comes of it. */
  #tookKey(sequence: number, key: string): void {
    const before = this.#keys.get(key);
    if (before !== undefined) throw new Broken(7, `commands ${before} and ${sequence} were both taken for key ${key}`);
    this.#keys.set(key, sequence);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > KEYS_MAX && oldest !== undefined) this.#keys.delete(oldest);
  }

  /** Committed: a command has ended. */
  ended(sequence: number, state: EndState): void {
    const known = this.#inFlight.get(sequence);
    if (known === undefined) throw new Broken(3, `command ${sequence} ended as ${state}, and was not in flight`);
    if (state === "succeeded" && known.delivered === 0) {
      throw new Broken(7, `command ${sequence} succeeded, and was never delivered`);
    }
    this.#inFlight.delete(sequence);
    this.#ends = { ...this.#ends, [state]: this.#ends[state] + 1 };
  }

  /** Invariant 7: a backend has seen a command; under one id, however often. */
  delivered(sequence: number, id: string): void {
    this.#deliveries += 1;
    const known = this.#inFlight.get(sequence);
    // One that has ended meanwhile: its attempt was given up, and came late.
    if (known === undefined) return;
    if (known.id !== id) throw new Broken(7, `command ${sequence} was accepted as ${known.id} and sent as ${id}`);
    known.delivered += 1;
    if (known.delivered > 1) this.#repeats += 1;
  }

  /** Invariants 4, 5 and 6. @param wrote whether the refusal left anything on disk */
  refused(critical: boolean, retryAfterSeconds: number, wrote: boolean): void {
    if (critical) throw new Broken(6, "a critical command was refused behind layer 1");
    if (wrote) throw new Broken(4, "a refusal wrote a row");
    const told = Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1 && retryAfterSeconds <= 300;
    if (!told) throw new Broken(5, `a refused caller was told ${retryAfterSeconds} s`);
  }

  /** A caller waits for room. @param untilMs in the run's time, by when it is answered */
  waits(token: string, untilMs: number): void {
    this.#waits.set(token, { untilMs, abandoned: false });
  }

  abandoned(token: string): void {
    const wait = this.#waits.get(token);
    if (wait !== undefined) wait.abandoned = true;
  }

  /** It was answered, or left the line. @param took whether its command was taken */
  waited(token: string, took: boolean): void {
    const wait = this.#waits.get(token);
    this.#waits.delete(token);
    if (took && wait?.abandoned) throw new Broken(9, `a caller that had hung up took a place`);
  }

  /** The object died: nobody waits there any more. */
  forgotWaits(): void {
    this.#waits.clear();
  }

  /** Everything that holds after every event. @param nowMs the run's time */
  look(view: EngineView, nowMs: number): void {
    const { depth, criticalDepth, running, betweenAttempts, deferred, bound } = view;
    if (bound !== null && depth > bound) throw new Broken(2, `${depth} are queued, and the bound is ${bound}`);
    const inFlight = depth + criticalDepth + running + betweenAttempts + deferred;
    if (inFlight !== this.#inFlight.size) {
      const invariant = inFlight > this.#inFlight.size ? 2 : 3;
      throw new Broken(invariant, `${inFlight} are in flight by the engine, and ${this.#inFlight.size} by the books`);
    }
    if (view.ends !== this.#endsSeen) this.#lookAtEnds(view.ends);
    if (view.accepted !== this.#accepted) {
      throw new Broken(3, `${view.accepted} were accepted by the engine, and ${this.#accepted} by the books`);
    }
    if (this.#waits.size > 0) this.#lookAtWaits(nowMs);
  }

  #lookAtEnds(ends: EndCounts): void {
    this.#endsSeen = ends;
    const differing = END_STATES.find((state) => ends[state] !== this.#ends[state]);
    if (differing !== undefined) {
      throw new Broken(3, `${ends[differing]} have ${differing} by the engine, ${this.#ends[differing]} by the books`);
    }
  }

  /** All wait for as long, so the first that came is the first that is due. */
  #lookAtWaits(nowMs: number): void {
    const [first] = this.#waits.values();
    if (first !== undefined && first.untilMs < nowMs) {
      throw new Broken(9, `a caller still waits ${nowMs - first.untilMs} ms after its deadline`);
    }
  }
}
