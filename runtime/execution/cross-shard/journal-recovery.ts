import { atMost } from '../../concurrency/at-most.js';
import { type Timer, time } from '../../concurrency/time.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { JournalError, messageOf } from '../../errors.js';
import type { JournalStatistics } from '../../persistence/journal/journal-statistics.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CrossShardJournal } from './cross-shard-journal.js';

export interface JournalRecoveryOptions {
  readonly journal: Pick<CrossShardJournal, 'survey' | 'finish' | 'flag'>;
  /** Called in each round. */
  readonly shards: () => readonly ShardIdentifier[];
  /** Average time between two checks of a shard's journal, in milliseconds. Default: 5,000. */
  readonly intervalMs?: number;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Receives reports of finished entries, of entries that cannot be finished, and of failures. */
  readonly warn: (message: string) => void;
}

const INTERVAL_MS = 5_000;
/** Maximum number of entries per round and shard. */
const BATCH = 20;
/** Time to finish the current entry when the process stops, in milliseconds; after that its lease expires. */
const STOP_MS = 3_000;

/** Another attempt would be refused too: an operator has to decide. */
const FINAL: ReadonlySet<JournalError['reason']> = new Set<JournalError['reason']>([
  'void',
  'stale',
  'refused',
]);
/** Another process has finished the entry, or must finish it. */
const SETTLED: ReadonlySet<JournalError['reason']> = new Set<JournalError['reason']>([
  'leased',
  'closed',
  'unknown',
  'newer',
]);

/**
 * Finishes cross-shard plans that a crash or a lost connection has left partially applied. Each entry is leased, so
 * several processes may run this; a failed attempt is stored with the entry and repeated after a pause that doubles up
 * to five minutes. An entry that can no longer be finished is flagged with the reason. Shards are processed
 * independently: one that does not answer delays no other. Does not keep the process alive.
 */
export class JournalRecovery {
  readonly #options: JournalRecoveryOptions;
  readonly #busy = new Map<ShardIdentifier, Promise<void>>();
  readonly #known = new Map<ShardIdentifier, JournalStatistics>();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: JournalRecoveryOptions) {
    this.#options = options;
  }

  /**
   * Starts the checks. The first one follows within an interval, because an earlier process of this host may have left
   * entries.
   */
  start(): void {
    this.#schedule(this.#options.random());
  }

  /** Starts no further entry, and waits up to `STOP_MS` for the current one. */
  async stop(): Promise<void> {
    this.#stopped = true;
    time.clearTimeout(this.#timer);
    await atMost(Promise.all(this.#busy.values()), STOP_MS);
  }

  /** The statistics of each checked shard. Sends no query. */
  statistics(): readonly JournalStatistics[] {
    return this.#options.shards().flatMap((shard) => this.#known.get(shard) ?? []);
  }

  #schedule(intervals: number): void {
    const { intervalMs = INTERVAL_MS } = this.#options;
    this.#timer = time.setTimeout(() => this.#startRound(), intervalMs * intervals).unref();
  }

  #startRound(): void {
    for (const shard of this.#options.shards()) {
      if (this.#busy.has(shard)) continue;
      const round = this.#lookAfter(shard).finally(() => this.#busy.delete(shard));
      this.#busy.set(shard, round);
    }
    this.#schedule(0.5 + this.#options.random());
  }

  /** Checks one shard. Never rejects. */
  async #lookAfter(shard: ShardIdentifier): Promise<void> {
    try {
      const { open, flagged, due } = await this.#options.journal.survey(shard, BATCH);
      this.#know(shard, { open, flagged });
      for (const entry of due) {
        if (this.#stopped) return;
        await this.#finish(shard, entry);
      }
    } catch {
      // The shard does not answer, which the log and metrics of its connections report.
    }
  }

  async #finish(
    shard: ShardIdentifier,
    { id, actionName }: { readonly id: string; readonly actionName: string },
  ): Promise<void> {
    const { journal, warn } = this.#options;
    const plan = `Cross-shard plan ${id} (${actionName})`;
    try {
      await journal.finish(id);
      const { open, finished } = this.#of(shard);
      this.#know(shard, { open: Math.max(0, open - 1), finished: finished + 1 });
      warn(`${plan} was partially applied; the missing changes are applied now`);
    } catch (error) {
      if (this.#stopped || isClosed(error)) return;
      if (error instanceof JournalError && SETTLED.has(error.reason)) return;
      this.#know(shard, { failed: this.#of(shard).failed + 1 });
      const reason = messageOf(error);
      if (error instanceof JournalError && FINAL.has(error.reason)) await this.#flag(shard, id, plan, error);
      else warn(`${plan} is partially applied and was not finished; another attempt follows: ${reason}`);
    }
  }

  async #flag(shard: ShardIdentifier, id: string, plan: string, error: JournalError): Promise<void> {
    const { journal, warn } = this.#options;
    await journal.flag(id, error.message.slice(0, 2_000));
    const { open, flagged } = this.#of(shard);
    this.#know(shard, { open: Math.max(0, open - 1), flagged: flagged + 1 });
    warn(
      `${plan} is partially applied and cannot be finished: ${error.message}. It is flagged: ` +
        `check it with \`fw-gen journal show ${id}\` and compensate by another action`,
    );
  }

  #of(shard: ShardIdentifier): JournalStatistics {
    return this.#known.get(shard) ?? { shard, open: 0, flagged: 0, finished: 0, failed: 0 };
  }

  #know(shard: ShardIdentifier, facts: Partial<JournalStatistics>): void {
    this.#known.set(shard, { ...this.#of(shard), ...facts });
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof DriverFailure && error.reason === 'closed';
}
