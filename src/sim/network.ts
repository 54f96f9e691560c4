import type { Loop } from "./loop.ts";
import type { NetworkSpec } from "./spec.ts";

/** What lies between callers and the edge: it takes its time, loses some messages, and delivers some twice. */
export class Network {
  readonly #spec: NetworkSpec;
  readonly #loop: Loop;
  readonly #random: () => number;
  readonly #isPlain: boolean;

  constructor(spec: NetworkSpec, loop: Loop, random: () => number) {
    this.#spec = spec;
    this.#loop = loop;
    this.#random = random;
    this.#isPlain = spec.delayMs === 0 && spec.dropPerMille === 0 && spec.duplicatePerMille === 0;
  }

  /** Sends a message. @param arrive what it does; never, once or twice */
  send(arrive: () => void): void {
    if (this.#isPlain) {
      arrive();
      return;
    }
    const { delayMs, dropPerMille, duplicatePerMille } = this.#spec;
    const fate = 1000 * this.#random();
    if (fate < dropPerMille) return;
    const copies = fate < dropPerMille + duplicatePerMille ? 2 : 1;
    for (let n = 0; n < copies; n++) this.#loop.after(2 * delayMs * this.#random(), arrive);
  }
}
