/**
 * Sets an object's alarm. One that cannot be set leaves a line in the log, one until it can be set again; whoever plans
 * it takes it as not set, so that the next event of the object tries again.
 */
export class AlarmSetting {
  readonly #storage: Pick<DurableObjectStorage, "setAlarm">;
  readonly #object: string;
  #isFailing = false;

  /** @param object which kind of object it is, for the log */
  constructor(storage: Pick<DurableObjectStorage, "setAlarm">, object: string) {
    this.#storage = storage;
    this.#object = object;
  }

  /**
   * Never rejects.
   *
   * @param atMs Unix milliseconds
   * @returns whether it is set
   */
  async set(atMs: number): Promise<boolean> {
    try {
      await this.#storage.setAlarm(atMs);
      this.#isFailing = false;
      return true;
    } catch (error) {
      if (!this.#isFailing) {
        console.warn(JSON.stringify({ event: "alarm_not_set", object: this.#object, error: String(error) }));
      }
      this.#isFailing = true;
      return false;
    }
  }
}
