/** Reproducible random numbers: one seed, one sequence. Source: G. Marsaglia, "Xorshift RNGs" (2003). */
export class SeededRandom {
  #state: number;

  /** @param seed any integer */
  constructor(seed: number) {
    // Small seeds have few bits set, and a state of 0 would stay 0.
    this.#state = Math.imul(seed, 0x9e3779b1) || 1;
    for (let round = 0; round < 8; round += 1) this.next();
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }

  /** An integer from 0 to `bound` - 1. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of these; undefined if there is none. */
  pick<T>(choices: readonly T[]): T | undefined {
    return choices[this.below(choices.length)];
  }

  /** One of these, at random by weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[];
    let rest = this.next() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      rest -= weights[name];
      if (rest < 0) return name;
    }
    throw new Error('Nothing to choose from');
  }
}
