import type { EndCounts } from "../core/command.ts";
import { Dispatcher } from "./dispatcher.ts";
import { Door } from "./door.ts";
import type { EngineView } from "./engine-checks.ts";
import { type EngineWorld, Life, type Outbox } from "./life.ts";
import { EngineDisk } from "./rows.ts";
import type { Answer, Submission } from "./submission.ts";

/**
 * The engine's object as the platform sees it: one event after the other, each one commit; what it says leaves it only
 * once that commit is done; and it may die at any instant, before or after, and start again from its disk. The alarm that
 * looks after the real one every few seconds is left out on purpose: it would hide work that nobody has begun.
 */

export type CrashKind = "before" | "after";

/** One life with its parts that act. */
interface Living {
  readonly life: Life;
  readonly door: Door;
  readonly dispatcher: Dispatcher;
}

export class SimEngine implements EngineView {
  readonly #world: EngineWorld;
  readonly #disk = new EngineDisk();
  #booked: (() => void)[] = [];
  #sent: (() => void)[] = [];
  #living: Living;
  #crashNext: CrashKind | null = null;
  /** When expiry is looked at again, in the run's time; infinite: not planned. */
  #expiryAtMs = Number.POSITIVE_INFINITY;
  #lives = 1;
  #peakDepth = 0;

  constructor(world: EngineWorld) {
    this.#world = world;
    this.#living = this.#start();
  }

  /** Lives so far. */
  get lives(): number {
    return this.#lives;
  }

  /** When the command that has waited longest was accepted, by the object's clock; null when none waits. */
  get oldestAcceptedAtMs(): number | null {
    return this.#living.life.queue.oldestAcceptedAtMs();
  }

  get depth(): number {
    return this.#living.life.queue.depth;
  }

  get criticalDepth(): number {
    return this.#living.life.queue.criticalDepth;
  }

  get running(): number {
    return this.#living.life.running.size;
  }

  get deferred(): number {
    return this.#living.life.deferred.size;
  }

  get betweenAttempts(): number {
    return this.#living.life.retries.size;
  }

  get bound(): number | null {
    return this.#world.spec.bound;
  }

  get accepted(): number {
    return this.#disk.saved.accepted;
  }

  get ends(): EndCounts {
    return this.#disk.saved.ends;
  }

  /** The most that `depth` has been. */
  get peakDepth(): number {
    return this.#peakDepth;
  }

  submit(submission: Submission, answer: Answer): void {
    this.#enter(() => this.#living.door.submit(submission, answer));
  }

  /** The caller of a submission that waits for room has hung up. */
  abandon(token: string): void {
    this.#world.checks.abandoned(token);
    if (this.#world.sabotage === "abandoned-stays") return;
    this.#enter(() => this.#living.door.leave(token));
  }

  /** Takes a queued command out; one that runs or has ended is left alone. */
  cancel(sequence: number): void {
    this.#enter(() => {
      const { life } = this.#living;
      if (life.queue.remove(sequence) || life.deferred.delete(sequence)) this.#ended(life, sequence, "cancelled");
    });
  }

  /** The next event is the last of this life. */
  crash(kind: CrashKind): void {
    this.#crashNext = kind;
  }

  /** Memory is lost, between two events. */
  restart(): void {
    this.#lives += 1;
    this.#world.checks.forgotWaits();
    this.#expiryAtMs = Number.POSITIVE_INFINITY;
    this.#living = this.#start();
    this.#enter(() => this.#goOn());
  }

  #start(): Living {
    const lifeNumber = this.#lives;
    const outbox: Outbox = {
      booked: (entry) => this.#booked.push(entry),
      send: (message) => this.#sent.push(message),
      later: (ms, act) => this.#later(lifeNumber, ms, act),
    };
    const life = new Life(this.#world, this.#disk, outbox);
    const door: Door = new Door(life, () => dispatcher.begin());
    const dispatcher = new Dispatcher(life, () => {
      door.admitWaiting();
      life.backfill();
    });
    return { life, door, dispatcher };
  }

  /** One event: what it does, then the commit, then what it says. */
  #enter(act: () => void): void {
    const crash = this.#crashNext;
    this.#crashNext = null;
    const lifeNumber = this.#lives;
    this.#expire();
    act();
    this.#planExpiry();
    this.#peakDepth = Math.max(this.#peakDepth, this.#living.life.queue.depth);
    const [booked, sent] = [this.#booked, this.#sent];
    if (booked.length > 0) this.#booked = [];
    if (sent.length > 0) this.#sent = [];
    if (crash === "before") {
      this.#disk.rollback();
      this.restart();
      return;
    }
    this.#disk.commit();
    for (const entry of booked) entry();
    if (crash === "after") this.restart();
    else for (const message of sent) if (lifeNumber === this.#lives) message();
  }

  /** As an event of this life; nothing, once it is over. */
  #later(lifeNumber: number, ms: number, act: () => void): void {
    this.#world.loop.after(ms, () => {
      if (lifeNumber === this.#lives) this.#enter(act);
    });
  }

  /** Ends what has come too late: nobody waits for it any more. */
  #expire(): void {
    const { life } = this.#living;
    for (const sequence of life.deadlines.takeDue(this.#world.clock())) {
      const waited = life.queue.remove(sequence) || life.retries.remove(sequence) || life.deferred.delete(sequence);
      if (waited) this.#ended(life, sequence, "expired");
    }
  }

  #goOn(): void {
    const { door, life, dispatcher } = this.#living;
    door.admitWaiting();
    life.backfill();
    dispatcher.begin();
  }

  #planExpiry(): void {
    const nextMs = this.#living.life.deadlines.nextMs();
    if (nextMs === null) return;
    const { loop, clock } = this.#world;
    const atMs = loop.nowMs + Math.max(1, nextMs - clock());
    if (atMs >= this.#expiryAtMs) return;
    this.#expiryAtMs = atMs;
    this.#later(this.#lives, atMs - loop.nowMs, () => {
      this.#expiryAtMs = Number.POSITIVE_INFINITY;
    });
  }

  #ended(life: Life, sequence: number, state: "cancelled" | "expired"): void {
    const row = life.row(sequence);
    this.#disk.end(sequence, state);
    life.inFlightThen.delete(sequence);
    life.deadlines.remove(sequence);
    this.#booked.push(() => {
      this.#world.checks.ended(sequence, state);
      this.#world.ended(row);
    });
    life.pace.setBusy(life.waiting > 0, this.#world.clock());
    this.#goOn();
  }
}
