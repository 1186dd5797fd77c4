/** The messages that have arrived at a receiver, for checks of order and completeness. */
export class Arrivals {
  readonly #ids = new Set<string>();
  readonly #last = new Map<string, number>();
  /** Number of repeated messages. */
  duplicates = 0;
  /** Number of messages that first arrived after a newer one of their model. */
  outOfOrder = 0;

  get count(): number {
    return this.#ids.size;
  }

  add(id: string, key: string, version: number): void {
    if (this.#ids.has(id)) {
      this.duplicates += 1;
      return;
    }
    this.#ids.add(id);
    if (version <= (this.#last.get(key) ?? 0)) this.outOfOrder += 1;
    this.#last.set(key, version);
  }

  /** Those of these ids that have not arrived. */
  missing(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => !this.#ids.has(id));
  }
}
