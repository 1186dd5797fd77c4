import type { Place, Problems } from './problems.js';

/** Checks that no two entries claim the same value; the second one is reported. */
export class Unique<Value> {
  readonly #problems: Problems;
  readonly #what: string;
  readonly #owners = new Map<Value, Place>();

  /** @param what the value's name in messages: `this ${what} is already used by …` */
  constructor(problems: Problems, what: string) {
    this.#problems = problems;
    this.#what = what;
  }

  claim(value: Value, place: Place): void {
    const owner = this.#owners.get(value);
    if (owner === undefined) this.#owners.set(value, place);
    else this.#problems.add(place, { message: `this ${this.#what} is already used by ${owner.path}` });
  }
}
