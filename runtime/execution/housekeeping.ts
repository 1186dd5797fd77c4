import { type Timer, time } from '../concurrency/time.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { CallOptions } from '../sharding/shard-database.js';

/** Deletes at most `limit` expired rows of a shard. Returns their number. */
export type Purge = (shard: ShardIdentifier, limit: number, options: CallOptions) => Promise<number>;

export interface HousekeepingOptions {
  /** The shards to purge; called in each round. */
  readonly shards: () => readonly ShardIdentifier[];
  readonly purges: readonly Purge[];
  /** Average time between two rounds, in milliseconds. */
  readonly intervalMs: number;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

/** Small enough that other transactions wait only briefly for a row of the batch. */
const BATCH = 500;
/** Bounds the load of one round; the next round continues. */
const MAXIMUM_BATCHES = 20;
const LIMITS: CallOptions = { timeoutMs: 1_000 };

/**
 * Deletes expired rows in the background, batch by batch. Rounds start at random times, so that processes that were
 * started together do not purge together. An unreachable shard is left for the next round. Does not keep the process
 * alive.
 */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #timer: Timer | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  start(): void {
    const { intervalMs, random } = this.#options;
    this.#timer = time.setTimeout(() => this.#startRound(), intervalMs * (0.5 + random())).unref();
  }

  /** Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    time.clearTimeout(this.#timer);
    await this.#round;
  }

  #startRound(): void {
    this.#round = this.#purgeAll().then(() => {
      if (!this.#stopped) this.start();
    });
  }

  async #purgeAll(): Promise<void> {
    const { shards, purges } = this.#options;
    for (const shard of shards()) {
      for (const purge of purges) await this.#purge(shard, purge);
    }
  }

  async #purge(shard: ShardIdentifier, purge: Purge): Promise<void> {
    try {
      for (let batch = 0; batch < MAXIMUM_BATCHES && !this.#stopped; batch += 1) {
        if ((await purge(shard, BATCH, LIMITS)) < BATCH) return;
      }
    } catch {
      // Callers receive such errors themselves; expired rows can wait.
    }
  }
}
