/** What speaks against a document: collected, so that one deployment tells all of it, and bounded. */

/** Without an id it is about the whole document, or about something that has none. */
export interface Fault {
  readonly elementId: string | null;
  readonly message: string;
}

/** Nobody reads more at once, and the message of a failed command is stored. */
export const FAULTS_MAX = 20;
const MESSAGE_LENGTH_MAX = 300;
const ID_LENGTH_MAX = 100;

export class Faults {
  readonly #faults: Fault[] = [];

  add(elementId: string | null, message: string): void {
    if (this.#faults.length < FAULTS_MAX) {
      this.#faults.push({
        elementId: elementId?.slice(0, ID_LENGTH_MAX) ?? null,
        message: message.slice(0, MESSAGE_LENGTH_MAX),
      });
    }
  }

  get isEmpty(): boolean {
    return this.#faults.length === 0;
  }

  all(): readonly Fault[] {
    return this.#faults;
  }
}
