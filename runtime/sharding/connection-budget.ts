import { time } from '../concurrency/time.js';
/** A pool as the budget sees it. */
export interface BudgetedPool {
  /** Connections that are open or being opened. */
  readonly size: number;
  /** Closes one idle connection. False if there is none. */
  shedIdle(): boolean;
  /** Tries again to open what callers wait for. */
  wake(): void;
}

interface Hunger {
  /** On the clock of `time.nowMs()`. */
  readonly since: number;
}

/** With more busy pools than connections, each connection stays with its pool for this time before it moves on. */
const TURN_MS = 100;

/**
 * One limit for the connections of many pools. A pool that needs one while none is left gets that of a pool which does
 * not use it, or the next one that a larger pool has no more use for: no pool starves while another one is well fed.
 */
export class ConnectionBudget {
  readonly maximum: number;
  readonly #pools = new Set<BudgetedPool>();
  /** Pools whose callers wait for a connection that could not be opened. */
  readonly #hungry = new Map<BudgetedPool, Hunger>();
  #open = 0;
  #reserved = 0;
  #expected = 0;

  /** @param maximum most connections open at a time, at least 1 */
  constructor(maximum: number) {
    this.maximum = maximum;
  }

  /** Connections that are open, being opened or being closed. */
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

  /** Takes one connection out of the budget. False: there is none now; the pool is woken when there may be one. */
  take(pool: BudgetedPool): boolean {
    if (this.#open < this.maximum) {
      this.#open += 1;
      this.#hungry.delete(pool);
      return true;
    }
    if (!this.#hungry.has(pool)) this.#hungry.set(pool, { since: time.nowMs() });
    for (const other of this.#pools) if (other !== pool && other.shedIdle()) break;
    return false;
  }

  /** Whether a pool may keep one for good: with it gone, each pool must still be able to have one at a time. */
  mayReserve(): boolean {
    return this.maximum - this.#reserved - 1 >= Math.max(this.#pools.size, this.#expected);
  }

  reserve(): void {
    this.#reserved += 1;
  }

  unreserve(): void {
    this.#reserved -= 1;
  }

  /** Announces the number of pools. */
  expect(pools: number): void {
    this.#expected = pools;
  }

  /** Puts a connection back that is closed by now. */
  give(): void {
    this.#open -= 1;
    // The smallest pool first. One whose callers have given up meanwhile takes nothing, and it is the next one's turn.
    for (const pool of [...this.#hungry.keys()].sort((left, right) => left.size - right.size)) {
      if (this.#open >= this.maximum) return;
      this.#hungry.delete(pool);
      pool.wake();
    }
  }

  /** The pool's callers have what they need. */
  satisfied(pool: BudgetedPool): void {
    this.#hungry.delete(pool);
  }

  /**
   * Whether a pool should close a connection that comes back to it: another pool waits and has fewer, or has had none
   * for a while.
   *
   * @param needed whether callers of the pool itself wait for the connection
   */
  shouldYield(pool: BudgetedPool, needed: boolean): boolean {
    if (this.#hungry.size === 0) return false;
    const patience = time.nowMs() - TURN_MS;
    for (const [other, { since }] of this.#hungry) {
      if (other === pool) continue;
      if (!needed || other.size + 1 < pool.size || (other.size === 0 && since <= patience)) return true;
    }
    return false;
  }
}
