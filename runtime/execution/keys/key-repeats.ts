/** Look-ups in a row that must find nothing before keys are claimed without one. */
const FRESH_KEYS = 100;

/**
 * Whether requests for one action under a key are repeated at present. While they are not, a plan claims its key
 * without a look-up, which saves a round trip: the key of a repeat is taken, so its statement fails. After a repeat keys
 * are looked up again.
 */
export class KeyRepeats {
  /** Look-ups since the last repeat. */
  #fresh = 0;

  get areLikely(): boolean {
    return this.#fresh < FRESH_KEYS;
  }

  /** Must be called with the outcome of each look-up. */
  note(isRepeat: boolean): void {
    this.#fresh = isRepeat ? 0 : this.#fresh + 1;
  }
}
