/**
 * A clock of work, in steps of about 10 ns: time stands still within an event, and who does the work has to let others
 * have their turn.
 */

let spent = 0;

/** The steps of all work so far. */
export function stepsSpent(): number {
  return spent;
}

/** Work of so many steps is done. */
export function spend(steps: number): void {
  spent += steps;
}
