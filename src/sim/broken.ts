/** A promise that a run did not keep. */
export class Broken extends Error {
  /** Its number in the list of invariants (DESIGN §8). */
  readonly invariant: number;

  constructor(invariant: number, message: string) {
    super(message);
    this.name = "Broken";
    this.invariant = invariant;
  }
}
