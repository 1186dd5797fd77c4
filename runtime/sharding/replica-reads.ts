import { memoize } from '../collections/memoize.js';
import { deadlines } from '../concurrency/deadlines.js';
import { fresh } from '../concurrency/fresh.js';
import { LogLimiter } from '../concurrency/log-limiter.js';
import { sleep, time } from '../concurrency/time.js';
import { errorFacts, type Logger, SILENT } from '../domain/logger.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardIdentityError, ValidationError } from '../errors.js';
import type { DatabaseRegistry } from './database-registry.js';
import { DriverFailure } from './driver-failure.js';
import { INTERNAL_ACCESS } from './internal-access.js';
import { callShard } from './public-error.js';
import type { CallOptions, ShardDatabase } from './shard-database.js';
import { sqlStateMeaning } from './sql-state.js';

/** Options of reads on replicas (`secondary-config`). A shard without a replica is read on its primary. */
export interface ReplicaRead {
  /**
   * Minimum position in the primary's write-ahead log, such as `0/16B3748`, that each replica must have replayed: a
   * caller that writes before it requests the position reads its own writes. Default: any state. Shards that are not
   * listed may have any state.
   */
  readonly after?: ReadonlyMap<ShardIdentifier, string>;
  /**
   * Maximum wait for a lagging replica before the primary is read instead, in milliseconds. At most 40 % of the read's
   * time limit. Default 0.
   */
  readonly waitMs?: number;
}

/** Where the reads of one shard go. */
export interface ReadSource {
  readonly shard: ShardIdentifier;
  /** Runs a read, which may be repeated on another database. `options` limit the choice of the database. */
  read<T>(work: (database: ShardDatabase) => Promise<T>, options?: CallOptions): Promise<T>;
}

/** Reads from one database. */
export function readSource(database: ShardDatabase): ReadSource {
  return { shard: database.shard, read: (work) => work(database) };
}

/** Why the primary has answered reads that the replica may serve, with the words of the log. */
const SKIPS = {
  behind: 'has not replayed the position that the reader requires',
  slow: 'does not answer in time',
  unreachable: 'cannot be reached',
  cancelled: 'has cancelled a read in favour of replay',
  promoted:
    'is not a standby, so that its rows differ: it was promoted, or secondary-config names a wrong server',
} as const;

type ReplicaSkip = keyof typeof SKIPS;

/** Reads that the primary has answered although a replica may serve them, by reason, since the start of the process. */
type ReplicaSkips = Readonly<Record<ReplicaSkip, number>>;

const NO_SKIPS: ReplicaSkips = { behind: 0, slow: 0, unreachable: 0, cancelled: 0, promoted: 0 };

const POLL_INTERVAL_MS = 5;
/** The part of a read's time limit that it may wait for a lagging replica. */
const LONGEST_WAIT = 0.4;
/** An unreachable replica is skipped for this time, so that reads do not wait for it, in milliseconds. */
const REST_AFTER_FAILURE_MS = 1_000;
/** A standby may be promoted at any time, in milliseconds. */
const CHECKED_EVERY_MS = 1_000;
const LOG_POSITION = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/;

interface ReplicaReadsOptions {
  /** Whether the caller's reads may go to a replica; called for each read. Default: always. */
  readonly isAllowed?: () => boolean;
  /** Receives at most one line a second for each shard and reason for which a replica is skipped. Default: discarded. */
  readonly log?: Logger | undefined;
}

/** Decides for each read whether a shard's replica can serve it. */
export class ReplicaReads {
  readonly #databases: Pick<DatabaseRegistry, 'database' | 'replica'>;
  readonly #isAllowed: () => boolean;
  readonly #checks = memoize((replica: ShardDatabase) =>
    fresh(() => checkReplica(replica), CHECKED_EVERY_MS),
  );
  readonly #rests = new Map<ShardIdentifier, { readonly untilMs: number; readonly skip: ReplicaSkip }>();
  readonly #skips = new Map<ShardIdentifier, ReplicaSkips>();
  readonly #log: LogLimiter;

  constructor(
    databases: Pick<DatabaseRegistry, 'database' | 'replica'>,
    { isAllowed = () => true, log = SILENT }: ReplicaReadsOptions = {},
  ) {
    this.#databases = databases;
    this.#isAllowed = isAllowed;
    this.#log = new LogLimiter(log);
  }

  /** How many reads of a shard its replica has not served, by reason. @internal */
  skips(shard: ShardIdentifier): ReplicaSkips {
    return this.#skips.get(shard) ?? NO_SKIPS;
  }

  /**
   * The current end of a shard's log. Every acknowledged commit is before it.
   *
   * @throws UnknownShardError if the shard is not configured
   * @throws ShardUnavailableError if its database cannot be reached
   */
  async position(shard: ShardIdentifier): Promise<string> {
    const text = 'select pg_current_wal_insert_lsn()::text';
    const database = this.#databases.database(shard);
    const query = { text, values: [] };
    const { rows } = await callShard(shard, () => database.query(query, { access: INTERNAL_ACCESS }));
    return String(rows[0]?.[0]);
  }

  /** The positions of many shards, to pass to a later read. */
  async positions(shards: readonly ShardIdentifier[]): Promise<ReadonlyMap<ShardIdentifier, string>> {
    const entries = shards.map(async (shard) => [shard, await this.position(shard)] as const);
    return new Map(await Promise.all(entries));
  }

  /**
   * Reads go to the replica if it is a standby (checked once a second), available and recent enough, and to the primary
   * otherwise. One that fails because the replica was lost or cancelled it is repeated on the primary, also one that
   * takes half of its time limit there.
   *
   * @throws ValidationError for an invalid log position
   * @internal
   */
  reader(shard: ShardIdentifier, read: ReplicaRead): ReadSource {
    const after = read.after?.get(shard);
    if (after !== undefined && !LOG_POSITION.test(after)) {
      throw new ValidationError('A log position has the form 0/16B3748', { field: 'after' });
    }
    const primary = this.#databases.database(shard);
    const waitMs = read.waitMs ?? 0;
    return {
      shard,
      read: async (work, options) => {
        const database = this.#isAllowed() ? this.#databases.replica(shard) : undefined;
        if (database === undefined) return work(primary);
        const rest = this.#rests.get(shard);
        if (rest !== undefined && rest.untilMs > time.nowMs()) {
          this.#skip(shard, rest.skip);
          return work(primary);
        }
        const onReplica = async () => {
          if (!(await this.#checks(database)())) return { skip: 'promoted' } as const;
          const isRecent = after === undefined || (await hasReplayed(database, after, waitMs, options));
          return isRecent ? { result: await work(database) } : ({ skip: 'behind' } as const);
        };
        try {
          const untilMs = time.nowMs() + (options?.timeoutMs ?? Number.POSITIVE_INFINITY) / 2;
          const answer = await deadlines.race(onReplica(), untilMs, hangs);
          if ('result' in answer) return answer.result;
          this.#skip(shard, answer.skip);
        } catch (error) {
          const skip = this.#skipAfter(shard, error);
          if (skip === undefined) throw error;
          this.#skip(shard, skip, error);
        }
        return work(primary);
      },
    };
  }

  /**
   * Undefined unless the failure is the replica's own, so that the primary may still answer. An unreachable replica is
   * then skipped for a while.
   */
  #skipAfter(shard: ShardIdentifier, error: unknown): ReplicaSkip | undefined {
    if (!(error instanceof DriverFailure)) return undefined;
    const { sqlState, reason } = error;
    // A standby may cancel a query because replay removes rows that the query needs.
    if (sqlState !== undefined && sqlStateMeaning(sqlState) === 'transient') return 'cancelled';
    if (sqlState !== undefined && sqlStateMeaning(sqlState) !== 'unavailable') return undefined;
    const skip = reason === 'deadline' ? 'slow' : 'unreachable';
    this.#rests.set(shard, { untilMs: time.nowMs() + REST_AFTER_FAILURE_MS, skip });
    return skip;
  }

  #skip(shard: ShardIdentifier, reason: ReplicaSkip, error?: unknown): void {
    const skips = this.skips(shard);
    this.#skips.set(shard, { ...skips, [reason]: skips[reason] + 1 });
    this.#log.write(`${shard} ${reason}`, () => ({
      level: reason === 'behind' ? 'info' : 'warn',
      message: `Shard ${shard}: the primary answers, because the replica ${SKIPS[reason]}`,
      ...{ shard: shard.toString(), reason },
      ...(error === undefined ? {} : errorFacts(error, false)),
    }));
  }
}

function hangs(): DriverFailure {
  return new DriverFailure('The replica does not answer', { phase: 'in-flight', reason: 'deadline' });
}

async function hasReplayed(
  replica: ShardDatabase,
  after: string,
  waitMs: number,
  options: CallOptions | undefined,
): Promise<boolean> {
  // Before `hangs` would report the replica as one that does not answer, so that no reader would use it.
  const limitMs = (options?.timeoutMs ?? Number.POSITIVE_INFINITY) * LONGEST_WAIT;
  const giveUpAt = time.nowMs() + Math.min(waitMs, limitMs);
  const text = 'select coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false)';
  for (;;) {
    const { rows } = await replica.query({ text, values: [after] }, options);
    if (rows[0]?.[0] === true) return true;
    if (time.nowMs() >= giveUpAt) return false;
    await sleep(POLL_INTERVAL_MS);
  }
}

/** @returns whether it is a standby @throws ShardIdentityError if the replica belongs to another shard */
async function checkReplica(replica: ShardDatabase): Promise<boolean> {
  const { shard } = replica;
  const text = 'select group_number, member_number, pg_is_in_recovery() from eventlog.shard';
  const { rows } = await replica.query({ text, values: [] });
  const [group, member, isStandby] = rows[0] ?? [];
  if (group === shard.group && member === shard.member) return isStandby === true;
  throw new ShardIdentityError(
    `${replica.description} is configured as the replica of shard ${shard}, but it is shard ` +
      `(${String(group)}, ${String(member)}). Check whether secondary-config names another member`,
  );
}
