import { randomUUID } from 'node:crypto';
import { sleep, time } from '../concurrency/time.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { messageOf } from '../errors.js';
import { LockStore } from '../locks/lock-store.js';
import { databaseTime } from '../sharding/database-time.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { noteRun, readLastRun } from './last-run.js';
import { LARGEST_UNNOTICED_SCAN } from './make-partitions.js';
import { DAY_MS, type PartitionState, readPartitions } from './partitions.js';
import { checkRetention, type RetentionOptions, type RetentionReport, retain } from './retain.js';
import { statementsOn } from './short-transaction.js';

/** Settings of the automatic retention of a process. */
export interface RetentionSettings extends RetentionOptions {
  /** Whether the process runs retention. Default true. */
  readonly automatic?: boolean;
  /** Interval at which one of the processes runs it on a shard, in milliseconds. Default 3,600,000. */
  readonly everyMs?: number;
}

export interface RetentionKeeperOptions {
  readonly settings: RetentionSettings;
  /** Called in each round. */
  readonly databases: () => readonly ShardDatabase[];
  /** Default: the clock of each database. */
  readonly now?: (database: ShardDatabase) => Promise<Date>;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Receives the results. */
  readonly inform: (message: string) => void;
  /** Receives warnings for operators. */
  readonly warn: (message: string) => void;
}

/** The retention status of one shard in this process. */
export interface RetentionStatus {
  readonly shard: ShardIdentifier;
  /** Whether this role may run it. */
  readonly allowed: boolean;
  /** When any process last finished it; undefined: never, or this role may not see it. */
  readonly lastDone: Date | undefined;
  /** The end of the last partition; undefined if there are none. */
  readonly partitionsUntil: Date | undefined;
  /** Number of partitions that the last run of this process kept although they are old enough, or too large. */
  readonly kept: number;
  /** Number of partitions that this process has dropped. */
  readonly droppedPartitions: number;
  readonly deletedRows: number;
  readonly failures: number;
}

const DEFAULT_EVERY_MS = 60 * 60 * 1_000;
/** Shards are checked more often than retention is due, so that another process soon replaces one that ends. */
const CHECKS_PER_RUN = 6;
/** The keyed lock of the process that runs retention on a shard, and its hold time unless extended, in milliseconds. */
const LOCK = 'fw:retention';
const HOLD_MS = 10 * 60 * 1_000;
/** Warn if the last partition ends sooner than this, in milliseconds. */
const SHORT_OF_PARTITIONS_MS = 2 * DAY_MS;

/**
 * Runs retention in the background: one of the processes at a time on each shard, where its role owns the tables.
 * Failures of a shard are logged and retried. Does not keep the process alive.
 */
export class RetentionKeeper {
  readonly #options: RetentionKeeperOptions;
  readonly #abort = new AbortController();
  readonly #status = new Map<ShardIdentifier, RetentionStatus>();
  /** The last warning about each shard, so that it is logged only once. */
  readonly #warned = new Map<ShardIdentifier, string>();
  #loop: Promise<void> = Promise.resolve();

  /**
   * @throws ValidationError for invalid settings
   *
   * @internal
   */
  constructor(options: RetentionKeeperOptions) {
    checkRetention(options.settings);
    this.#options = options;
  }

  /** The status of the shards that have been checked. */
  get status(): readonly RetentionStatus[] {
    return [...this.#status.values()];
  }

  start(): void {
    if (this.#options.settings.automatic === false) return;
    this.#loop = this.#run();
  }

  /** Resolves when no work is in progress any more. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop;
  }

  /** Checks every shard once, and runs retention where it is due. @throws ClosedError if the databases are closed */
  async round(): Promise<void> {
    const databases = this.#options.databases();
    for (const shard of this.#status.keys()) {
      if (!databases.some((each) => each.shard === shard)) this.#status.delete(shard);
    }
    for (const database of databases) {
      if (this.#abort.signal.aborted) return;
      await this.#check(database, databases);
    }
  }

  get #everyMs(): number {
    return this.#options.settings.everyMs ?? DEFAULT_EVERY_MS;
  }

  async #run(): Promise<void> {
    const { random } = this.#options;
    while (!this.#abort.signal.aborted) {
      try {
        // Random, so that processes that were started together do not query together.
        const pauseMs = (this.#everyMs / CHECKS_PER_RUN) * (0.5 + random());
        await sleep(pauseMs, { signal: this.#abort.signal, ref: false });
        await this.round();
      } catch {
        // Stopped, or nothing is left to check.
        return;
      }
    }
  }

  /** Checks one shard. Never rejects. */
  async #check(database: ShardDatabase, all: readonly ShardDatabase[]): Promise<void> {
    const { shard } = database;
    try {
      const states = await readPartitions(statementsOn(database));
      if (states.length === 0) return;
      if (!states.every(({ owned }) => owned)) {
        this.#note(shard, { allowed: false, partitionsUntil: endOf(states) });
        await this.#warnOfMissingRight(database, states);
        return;
      }
      await this.#retain(database, all);
      const until = endOf(await readPartitions(statementsOn(database)));
      const { doneDate } = await readLastRun(database, this.#everyMs);
      this.#note(shard, { allowed: true, partitionsUntil: until, lastDone: doneDate });
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#note(shard, { failures: this.#statusOf(shard).failures + 1 });
      this.#warnOnce(shard, `Retention on shard ${shard} failed: ${messageOf(error)}`);
    }
  }

  /** Runs retention if it is due, under a lock that is extended: scanning a large partition takes long. */
  async #retain(database: ShardDatabase, all: readonly ShardDatabase[]): Promise<void> {
    const { settings, now = databaseTime, inform } = this.#options;
    const isDue = async (): Promise<boolean> => (await readLastRun(database, this.#everyMs)).isDue;
    if (!(await isDue())) return;
    const locks = new LockStore(database);
    const claim = { name: LOCK, owner: randomUUID() };
    if ((await locks.acquire(claim, HOLD_MS)) === undefined) return;
    const extend = (): void => void locks.extend(claim, HOLD_MS).catch(() => {});
    const renewal = time.setInterval(extend, HOLD_MS / 3).unref();
    try {
      // Another process may have run it before this one got the lock.
      if (!(await isDue())) return;
      const run = { time: await now(database), largestScanBytes: LARGEST_UNNOTICED_SCAN };
      const report = await retain({ database, all }, settings, run);
      await noteRun(database);
      this.#count(report);
      const text = describeReport(report);
      if (text !== undefined) inform(`Retention on shard ${database.shard}: ${text}`);
      this.#warnOfKept(report);
    } finally {
      time.clearInterval(renewal);
      await locks.release(claim);
    }
  }

  async #warnOfMissingRight(database: ShardDatabase, states: readonly PartitionState[]): Promise<void> {
    const { shard } = database;
    const { settings, now = databaseTime } = this.#options;
    const end = endOf(states);
    const presentMs = (await now(database)).getTime();
    const isShort = end === undefined || end.getTime() < presentMs + SHORT_OF_PARTITIONS_MS;
    if (settings.keepDays === undefined && !isShort) return;
    const partitions =
      end === undefined ? 'There are no partitions' : `The partitions end on ${end.toISOString()}`;
    const reason = settings.keepDays === undefined ? partitions : 'Retention is configured';
    this.#warnOnce(
      shard,
      `${reason}, but this process cannot create or drop partitions on shard ${shard}: its role does not own ` +
        'eventlog.events. Run fw-gen events retain daily as the owner',
    );
  }

  #warnOfKept({ shard, kept, unreachable }: RetentionReport): void {
    const reasons = kept.map(({ partition, reason }) => `${partition} (${reason})`);
    const missing = unreachable.map((each) => `the rows that belong to shard ${each} (it is unreachable)`);
    const text = [...reasons, ...missing].join(', ');
    if (text !== '') this.#warnOnce(shard, `Retention on shard ${shard} keeps ${text}`);
    else this.#warned.delete(shard);
  }

  #warnOnce(shard: ShardIdentifier, message: string): void {
    if (this.#warned.get(shard) === message) return;
    this.#warned.set(shard, message);
    this.#options.warn(message);
  }

  #count(report: RetentionReport): void {
    const before = this.#statusOf(report.shard);
    const { deletedKeys, deletedSchedules, deletedSagas, deletedSagaSteps } = report;
    this.#note(report.shard, {
      kept: report.kept.length,
      droppedPartitions: before.droppedPartitions + report.dropped.length,
      deletedRows: before.deletedRows + deletedKeys + deletedSchedules + deletedSagas + deletedSagaSteps,
    });
  }

  #note(shard: ShardIdentifier, change: Partial<RetentionStatus>): void {
    this.#status.set(shard, { ...this.#statusOf(shard), ...change });
  }

  #statusOf(shard: ShardIdentifier): RetentionStatus {
    return this.#status.get(shard) ?? { ...UNKNOWN, shard };
  }
}

const UNKNOWN: Omit<RetentionStatus, 'shard'> = {
  allowed: false,
  lastDone: undefined,
  partitionsUntil: undefined,
  kept: 0,
  droppedPartitions: 0,
  deletedRows: 0,
  failures: 0,
};

/** The time until which every table has partitions. */
function endOf(states: readonly PartitionState[]): Date | undefined {
  const ends = states.map(({ partitions }) => partitions.at(-1)?.toMs ?? 0);
  const end = Math.min(...ends);
  return end === 0 ? undefined : new Date(end);
}

/** A description of the result; undefined if nothing was done. */
export function describeReport(report: RetentionReport): string | undefined {
  const { created, dropped, deletedKeys, deletedSchedules, deletedSagas, deletedSagaSteps } = report;
  const parts = [
    ...(created.length === 0 ? [] : [`made ${created.join(', ')}`]),
    ...(dropped.length === 0 ? [] : [`dropped or emptied ${dropped.join(', ')}`]),
    ...counted(deletedKeys, 'key'),
    ...counted(deletedSchedules, 'scheduled action'),
    ...counted(deletedSagas, 'saga record'),
    ...counted(deletedSagaSteps, 'saga step'),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

function counted(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`deleted ${count} ${what}${count === 1 ? '' : 's'}`];
}
