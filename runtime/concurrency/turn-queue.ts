interface Waiter {
  readonly start: () => void;
}

/** Ends a turn. Calls after the first have no effect. */
export type EndTurn = () => void;

/**
 * Waiters of this process, by key, first come first served. One of them has its turn, and it alone asks the database;
 * the others cost a closure each.
 */
export class TurnQueue {
  readonly #waiting = new Map<string, Set<Waiter>>();

  /** Whose turn it is not yet. */
  waiting(key: string): number {
    return this.#waiting.get(key)?.size ?? 0;
  }

  /** Takes the turn if nobody has it. */
  tryEnter(key: string): EndTurn | undefined {
    if (this.#waiting.has(key)) return undefined;
    this.#waiting.set(key, new Set());
    return this.#turn(key);
  }

  /** Waits for a turn until `givenUp` rejects, which is then the outcome. */
  enter(key: string, givenUp: Promise<never>): Promise<EndTurn> {
    const waiting = this.#waiting.get(key) ?? new Set<Waiter>();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { start: () => resolve(this.#turn(key)) };
      givenUp.catch((reason: unknown) => {
        waiting.delete(waiter);
        reject(reason);
      });
      if (this.#waiting.has(key)) waiting.add(waiter);
      else {
        this.#waiting.set(key, waiting);
        waiter.start();
      }
    });
  }

  #turn(key: string): EndTurn {
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#next(key);
    };
  }

  #next(key: string): void {
    const waiting = this.#waiting.get(key);
    for (const waiter of waiting ?? []) {
      waiting?.delete(waiter);
      waiter.start();
      return;
    }
    this.#waiting.delete(key);
  }
}
