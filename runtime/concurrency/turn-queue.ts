/** Ends a turn. Calls after the first have no effect. */
export type EndTurn = () => void;

/** A place in the queue of one key. */
export interface QueuePlace {
  /** Resolves when it is this place's turn; never after `leave`. */
  readonly reached: Promise<void>;
  /** Gives up the place, or ends its turn. */
  readonly leave: EndTurn;
}

/**
 * Executions of this process that want the same thing, by key, first come first served. One of them has its turn and
 * asks the database; the others cost a closure each.
 */
export class TurnQueue {
  /** Those that wait, by key. A key is there while it is some place's turn. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Keys at which a place has its turn. */
  get size(): number {
    return this.#waiting.size;
  }

  isTaken(key: string): boolean {
    return this.#waiting.has(key);
  }

  /** How many places wait for their turn. */
  waiting(key: string): number {
    return this.#waiting.get(key)?.size ?? 0;
  }

  /** Takes the turn if it is free. */
  tryEnter(key: string): EndTurn | undefined {
    if (this.#waiting.has(key)) return undefined;
    this.#waiting.set(key, new Set());
    return once(() => this.#next(key));
  }

  /** Queues for a turn. Each place must be left. */
  queue(key: string): QueuePlace {
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
    return { reached, leave };
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

function once(end: () => void): EndTurn {
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    end();
  };
}
