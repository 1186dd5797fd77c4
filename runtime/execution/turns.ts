/** Longest wait for a turn, in milliseconds: turns only save work, so nobody depends on them. */
const LONGEST_WAIT_MS = 250;
/**
 * Contention is remembered for so long, in milliseconds: whoever comes next takes a turn at once, instead of finding
 * out by running `perform` in vain.
 */
const REMEMBERED_MS = 100;

/**
 * Lets executions that fight over one model run their `perform` one after the other. Without turns, of n executions
 * that read the same state only one could be sealed and the others would run again, n times over. Taken for models
 * that are contended right now, in one order, before `perform` reads anything.
 */
export class Turns {
  readonly #queues = new Map<string, Promise<void>>();

  /** Contended models. */
  get size(): number {
    return this.#queues.size;
  }

  /** Whether somebody has, waits for or has just had a turn at this model. */
  isContended(key: string): boolean {
    return this.#queues.has(key);
  }

  /** Waits for a turn at every key. The returned function ends them. */
  async take(keys: readonly string[]): Promise<() => void> {
    const releases: (() => void)[] = [];
    for (const key of [...keys].sort()) releases.push(await this.#take(key));
    return () => {
      for (const release of releases) release();
    };
  }

  async #take(key: string): Promise<() => void> {
    const before = this.#queues.get(key);
    let release = (): void => {};
    const turn = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#queues.set(key, turn);
    void turn.then(() => this.#forgetLater(key, turn));
    if (before !== undefined) await atMost(before, LONGEST_WAIT_MS);
    return release;
  }

  #forgetLater(key: string, turn: Promise<void>): void {
    if (this.#queues.get(key) !== turn) return;
    setTimeout(() => {
      if (this.#queues.get(key) === turn) this.#queues.delete(key);
    }, REMEMBERED_MS).unref();
  }
}

async function atMost(promise: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}
