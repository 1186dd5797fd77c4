/** Lets a limited number of callers work at the same time; the others wait in line. */
export class Semaphore {
  #free: number;
  readonly #inLine: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  /** Resolves when the caller may work. Must be followed by `leave`. */
  async enter(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#inLine.push(resolve));
  }

  leave(): void {
    const next = this.#inLine.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
