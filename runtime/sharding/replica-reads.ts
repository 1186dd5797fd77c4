import { deadlines } from '../concurrency/deadlines.js';
import { sleep, time } from '../concurrency/time.js';
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
  /** Maximum wait for a lagging replica before the primary is read instead, in milliseconds. Default 0. */
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

const POLL_INTERVAL_MS = 5;
/** An unreachable replica is skipped for this time, so that reads do not wait for it, in milliseconds. */
const REST_AFTER_FAILURE_MS = 1_000;
const LOG_POSITION = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/;

interface ReplicaState {
  readonly database: ShardDatabase;
  readonly identity: Promise<void>;
}

/** Decides for each read whether a shard's replica can serve it. */
export class ReplicaReads {
  readonly #databases: Pick<DatabaseRegistry, 'database' | 'replica'>;
  readonly #isAllowed: () => boolean;
  readonly #replicas = new Map<ShardIdentifier, ReplicaState>();
  readonly #restUntil = new Map<ShardIdentifier, number>();

  /** @param isAllowed whether the caller's reads may go to a replica; called for each read. Default: always */
  constructor(
    databases: Pick<DatabaseRegistry, 'database' | 'replica'>,
    isAllowed: () => boolean = () => true,
  ) {
    this.#databases = databases;
    this.#isAllowed = isAllowed;
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
   * Reads go to the replica if it is available and recent enough, and to the primary otherwise. One that fails because
   * the replica was lost or cancelled it is repeated on the primary, also one that takes half of its time limit there.
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
        const replica = this.#usable(shard);
        if (replica === undefined) return work(primary);
        const onReplica = async () => {
          await replica.identity;
          const { database } = replica;
          const isRecent = after === undefined || (await hasReplayed(database, after, waitMs, options));
          return isRecent ? { result: await work(database) } : undefined;
        };
        try {
          const untilMs = time.nowMs() + (options?.timeoutMs ?? Number.POSITIVE_INFINITY) / 2;
          const answer = await deadlines.race(onReplica(), untilMs, hangs);
          if (answer !== undefined) return answer.result;
        } catch (error) {
          if (!this.#isReplicasOwn(shard, error)) throw error;
        }
        return work(primary);
      },
    };
  }

  #usable(shard: ShardIdentifier): ReplicaState | undefined {
    const isResting = (this.#restUntil.get(shard) ?? 0) > time.nowMs();
    return isResting || !this.#isAllowed() ? undefined : this.#replica(shard);
  }

  #replica(shard: ShardIdentifier): ReplicaState | undefined {
    const known = this.#replicas.get(shard);
    const database = this.#databases.replica(shard);
    if (database === undefined || known?.database === database) return known;
    const state = { database, identity: requireIdentity(database, shard) };
    this.#replicas.set(shard, state);
    // A check of the identity that failed for a passing reason is repeated.
    state.identity.catch((error: unknown) => {
      if (!(error instanceof ShardIdentityError)) this.#replicas.delete(shard);
    });
    return state;
  }

  /**
   * Whether the failure is the replica's own, so that the primary may still answer. An unreachable replica is then
   * skipped for a while.
   */
  #isReplicasOwn(shard: ShardIdentifier, error: unknown): boolean {
    if (!(error instanceof DriverFailure)) return false;
    const { sqlState } = error;
    if (sqlState === undefined || sqlStateMeaning(sqlState) === 'unavailable') {
      this.#restUntil.set(shard, time.nowMs() + REST_AFTER_FAILURE_MS);
      return true;
    }
    // A standby may cancel a query because replay removes rows that the query needs.
    return sqlStateMeaning(sqlState) === 'transient';
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
  const giveUpAt = time.nowMs() + Math.min(waitMs, options?.timeoutMs ?? Number.POSITIVE_INFINITY);
  const text = 'select coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false)';
  for (;;) {
    const { rows } = await replica.query({ text, values: [after] }, options);
    if (rows[0]?.[0] === true) return true;
    if (time.nowMs() >= giveUpAt) return false;
    await sleep(POLL_INTERVAL_MS);
  }
}

/** @throws ShardIdentityError if the replica belongs to another shard */
async function requireIdentity(replica: ShardDatabase, shard: ShardIdentifier): Promise<void> {
  const text = 'select group_number, member_number from eventlog.shard';
  const { rows } = await replica.query({ text, values: [] });
  const [group, member] = rows[0] ?? [];
  if (group === shard.group && member === shard.member) return;
  throw new ShardIdentityError(
    `${replica.description} is configured as the replica of shard ${shard}, but it is shard ` +
      `(${String(group)}, ${String(member)}). Check whether secondary-config names another member`,
  );
}
