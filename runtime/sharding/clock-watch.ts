import { type Timer, time } from '../concurrency/time.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { databaseTime } from './database-time.js';
import type { CallOptions, ShardDatabase } from './shard-database.js';

export interface ClockWatchOptions {
  readonly databases: { database(shard: ShardIdentifier): Pick<ShardDatabase, 'query'> };
  /** The shards of a round; called in each. */
  readonly shards: () => readonly ShardIdentifier[];
  /** Default: standard error. */
  readonly warn?: (message: string) => void;
  /** Default: discarded. */
  readonly inform?: (message: string) => void;
}

/** A larger difference is reported, in milliseconds. */
export const MAXIMUM_CLOCK_SKEW_MS = 5_000;
const INTERVAL_MS = 30_000;
const LIMITS: CallOptions = { timeoutMs: 1_000 };

/**
 * Milliseconds by which the clock of this process is ahead of a database's; negative: behind. 0 if the difference is
 * smaller than the round trip, which may not be skew.
 */
export async function clockSkewMs(
  database: Pick<ShardDatabase, 'query'>,
  options?: CallOptions,
): Promise<number> {
  const before = time.dateMs();
  const theirs = (await databaseTime(database, options)).getTime();
  const after = time.dateMs();
  return before > theirs ? before - theirs : Math.min(0, after - theirs);
}

/**
 * Compares the clock of this process with those of its databases, which decide about every time that processes compare.
 * Reports each shard once when the difference exceeds the limit, and once when it no longer does. Does not keep the
 * process alive.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #skews = new Map<ShardIdentifier, number>();
  readonly #reported = new Set<ShardIdentifier>();
  #timer: Timer | undefined;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  /** By shard, as last measured: see `clockSkewMs`. */
  get skewsMs(): ReadonlyMap<ShardIdentifier, number> {
    return this.#skews;
  }

  /** @param shards those of the first round, which begins at once; later ones are those that are used */
  start(shards: readonly ShardIdentifier[]): void {
    void this.round(shards);
    this.#timer = time.setInterval(() => void this.round(), INTERVAL_MS).unref();
  }

  stop(): void {
    time.clearInterval(this.#timer);
  }

  /** Measures each shard. A shard that does not answer is left for the next round. */
  async round(shards: readonly ShardIdentifier[] = this.#options.shards()): Promise<void> {
    await Promise.all(
      shards.map(async (shard) => {
        try {
          this.#note(shard, await clockSkewMs(this.#options.databases.database(shard), LIMITS));
        } catch {
          // Its requests report it.
        }
      }),
    );
  }

  #note(shard: ShardIdentifier, skewMs: number): void {
    const { warn = (message) => console.warn(message), inform = () => {} } = this.#options;
    this.#skews.set(shard, skewMs);
    const isExcessive = Math.abs(skewMs) > MAXIMUM_CLOCK_SKEW_MS;
    if (isExcessive === this.#reported.has(shard)) return;
    if (!isExcessive) {
      this.#reported.delete(shard);
      inform(`The clock of this process agrees again with that of shard ${shard}`);
      return;
    }
    this.#reported.add(shard);
    const side = skewMs > 0 ? 'ahead of' : 'behind';
    warn(
      `The clock of this process is ${Math.abs(Math.round(skewMs))} ms ${side} that of shard ${shard}, more than ` +
        `${MAXIMUM_CLOCK_SKEW_MS} ms: synchronise both (NTP)`,
    );
  }
}
