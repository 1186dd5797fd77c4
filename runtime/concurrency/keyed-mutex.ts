/** Leaves the queue of a key, or ends its turn. Calls after the first have no effect. */
export type Release = () => void;

/** A place in the queue of one key. */
export interface QueueTicket {
  /** Resolves when the turn of this place begins; never after `leave`. */
  readonly reached: Promise<void>;
  /** Whether its turn has not begun yet. */
  readonly isWaiting: boolean;
  /** Whether the next turn is its own. */
  readonly isNext: boolean;
  /** Leaves the queue, or ends the turn. */
  readonly leave: Release;
}

/**
 * A queue per key for operations of this process, first come, first served. One operation per key has its turn; each
 * waiting one costs only a closure.
 */
export class KeyedMutex {
  /** Waiting places by key. A key is present while a place has its turn. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Number of keys with a current turn. */
  get size(): number {
    return this.#waiting.size;
  }

  isTaken(key: string): boolean {
    return this.#waiting.has(key);
  }

  /** Takes the turn if it is free. */
  tryEnter(key: string): Release | undefined {
    if (this.#waiting.has(key)) return undefined;
    this.#waiting.set(key, new Set());
    return once(() => this.#next(key));
  }

  /** Queues for a turn. Each place must be left. */
  queue(key: string): QueueTicket {
    const waiting = this.#waiting.get(key) ?? new Set();
    const isFree = !this.#waiting.has(key);
    let start = (): void => {};
    const reached = new Promise<void>((resolve) => {
      start = resolve;
    });
    this.#waiting.set(key, waiting);
    if (isFree) start();
    else waiting.add(start);
    const leave = once(() => {
      if (!waiting.delete(start)) this.#next(key);
    });
    return {
      ...{ reached, leave },
      // Many places ask again and again, so none of them counts those before it.
      get isWaiting() {
        return waiting.has(start);
      },
      get isNext() {
        return waiting.values().next().value === start;
      },
    };
  }

  #next(key: string): void {
    const waiting = this.#waiting.get(key);
    for (const start of waiting ?? []) {
      waiting?.delete(start);
      start();
      return;
    }
    this.#waiting.delete(key);
  }
}

function once(end: () => void): Release {
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    end();
  };
}
