/**
 * Whether the object's disk has room for work. Asking the database takes as long as writing a row does, and the question
 * comes up several times for each command, so it is put now and then only: what can be written in between is far less
 * than what is kept free.
 */

/** Questions that one look answers. A command asks one or two, and writes a few MB at most. */
const ANSWERS_PER_LOOK = 256;

export class DiskSpace {
  readonly #sql: Pick<SqlStorage, "databaseSize">;
  readonly #bytesMax: number;
  #answersLeft = 0;

  /** @param bytesMax past this the object takes only what ends work, so that ending work stays possible */
  constructor(sql: Pick<SqlStorage, "databaseSize">, bytesMax: number) {
    this.#sql = sql;
    this.#bytesMax = bytesMax;
  }

  /** While it is short of space each question is a look: space that has come free is seen at once. */
  get isShort(): boolean {
    if (this.#answersLeft > 0) {
      this.#answersLeft -= 1;
      return false;
    }
    const isShort = this.#sql.databaseSize > this.#bytesMax;
    if (!isShort) this.#answersLeft = ANSWERS_PER_LOOK - 1;
    return isShort;
  }

  /** A look of its own: it is shown, and not decided by. */
  status(): { readonly bytes: number; readonly bytesMax: number } {
    return { bytes: this.#sql.databaseSize, bytesMax: this.#bytesMax };
  }
}
