import { time } from '../concurrency/time.js';

/** The part of a pool that the budget uses. */
export interface BudgetedPool {
  /** Connections that are open or being opened. */
  readonly size: number;
  /** Those of them that it keeps permanently. */
  readonly reserved: number;
  /** Closes one idle connection. False if there is none. */
  shedIdle(): boolean;
  /** Retries to open connections for waiting callers. */
  wake(): void;
}

/**
 * With more busy pools than connections, each connection stays with its pool for this time before it moves on, in
 * milliseconds.
 */
const TURN_MS = 100;

/**
 * One connection limit for many pools. A pool that needs a connection while none is left gets the idle one of another
 * pool, or the next one that a larger pool releases, so no pool starves.
 */
export class ConnectionBudget {
  readonly maximum: number;
  readonly #pools = new Set<BudgetedPool>();
  /** Pools whose callers wait for a connection that the limit did not allow, with the time since when. */
  readonly #hungry = new Map<BudgetedPool, number>();
  #open = 0;
  #expected = 0;

  /** @param maximum maximum open connections, at least 1 */
  constructor(maximum: number) {
    this.maximum = maximum;
  }

  /** Number of connections that are open, being opened or being closed. */
  get open(): number {
    return this.#open;
  }

  join(pool: BudgetedPool): void {
    this.#pools.add(pool);
  }

  leave(pool: BudgetedPool): void {
    this.#pools.delete(pool);
    this.#hungry.delete(pool);
  }

  /** Takes one connection from the budget. False: none is left; the budget wakes the pool when there may be one. */
  take(pool: BudgetedPool): boolean {
    if (this.#open < this.maximum) {
      this.#open += 1;
      this.#hungry.delete(pool);
      return true;
    }
    if (!this.#hungry.has(pool)) this.#hungry.set(pool, time.nowMs());
    for (const other of this.#pools) if (other !== pool && other.shedIdle()) break;
    return false;
  }

  /**
   * Whether a pool may keep one connection permanently: without it, each pool must still be able to have one at a time.
   */
  mayReserve(): boolean {
    const reserved = [...this.#pools].reduce((sum, pool) => sum + pool.reserved, 0);
    return this.maximum - reserved - 1 >= Math.max(this.#pools.size, this.#expected);
  }

  /** Sets the number of pools. */
  expect(pools: number): void {
    this.#expected = pools;
  }

  /** Returns a closed connection to the budget. */
  give(): void {
    this.#open -= 1;
    // Wakes the smallest pool first. A pool whose callers have given up takes no connection, and the next one is woken.
    for (const pool of [...this.#hungry.keys()].sort((left, right) => left.size - right.size)) {
      if (this.#open >= this.maximum) return;
      this.#hungry.delete(pool);
      pool.wake();
    }
  }

  /** Removes a pool whose callers no longer wait. */
  satisfied(pool: BudgetedPool): void {
    this.#hungry.delete(pool);
  }

  /**
   * Whether a pool should close a connection that was released: another pool waits and has fewer, or has had none for a
   * while.
   *
   * @param needed whether callers of the pool itself wait for the connection
   */
  shouldYield(pool: BudgetedPool, needed: boolean): boolean {
    if (this.#hungry.size === 0) return false;
    const patience = time.nowMs() - TURN_MS;
    for (const [other, since] of this.#hungry) {
      if (other === pool) continue;
      if (!needed || other.size + 1 < pool.size || (other.size === 0 && since <= patience)) return true;
    }
    return false;
  }
}
