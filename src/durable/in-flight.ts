/**
 * How many commands were in flight when each was accepted, itself included: what a limit learns from when the command
 * ends. Tied to the command's life and to memory: after a restart nobody knows, and such a command teaches nothing.
 */
export class InFlight {
  readonly #atAcceptance = new Map<number, number>();

  begin(sequence: number, inFlight: number): void {
    this.#atAcceptance.set(sequence, inFlight);
  }

  /** What was in flight at its acceptance; null when its time says nothing about load. */
  end(sequence: number): number | null {
    const inFlight = this.#atAcceptance.get(sequence) ?? null;
    this.#atAcceptance.delete(sequence);
    return inFlight;
  }

  /** The engine stands still by order: the times of all that waits now say nothing about load. */
  forgetTimes(): void {
    this.#atAcceptance.clear();
  }
}
