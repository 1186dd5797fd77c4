import { sleep, time } from '../concurrency/time.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardIdentityError, ValidationError } from '../errors.js';
import type { DatabaseRegistry } from './database-registry.js';
import { DriverFailure } from './driver-failure.js';
import { INTERNAL_ACCESS } from './internal-access.js';
import { publicError } from './public-error.js';
import type { CallOptions, ShardDatabase } from './shard-database.js';
import { sqlStateMeaning } from './sql-state.js';

/** A place in the log of one shard's primary, such as `0/16B3748`. */
export type LogPosition = string;

/** How a read may use the replica of each shard (`secondary-config`). A shard without one is read on its primary. */
export interface ReplicaRead {
  /**
   * The replica must have replayed its shard's log up to here: a caller that writes before it asks for the position
   * reads its own writes. Default: any state will do. Shards that are not listed may be in any state.
   */
  readonly after?: ReadonlyMap<ShardIdentifier, LogPosition>;
  /** How long a replica that is behind is waited for before the primary is read instead, in milliseconds. Default 0. */
  readonly waitMs?: number;
}

const POLL_INTERVAL_MS = 5;
/** An unreachable replica is skipped for this time, so that reads do not wait for it. */
const REST_AFTER_FAILURE_MS = 1_000;
const LOG_POSITION = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/;

interface ReplicaState {
  readonly database: ShardDatabase;
  readonly identity: Promise<void>;
}

/** Decides for each read whether a shard's replica can serve it. */
export class ReplicaReads {
  readonly #databases: DatabaseRegistry;
  readonly #isAllowed: () => boolean;
  readonly #replicas = new Map<ShardIdentifier, ReplicaState>();
  readonly #restUntil = new Map<ShardIdentifier, number>();

  /** @param isAllowed whether the caller's reads may go to a replica; asked for each. Default: always */
  constructor(databases: DatabaseRegistry, isAllowed: () => boolean = () => true) {
    this.#databases = databases;
    this.#isAllowed = isAllowed;
  }

  /**
   * The end of a shard's log now. Every commit that was acknowledged before lies behind it.
   *
   * @throws UnknownShardError if the shard is not configured
   * @throws ShardUnavailableError if its database cannot be reached
   */
  async position(shard: ShardIdentifier): Promise<LogPosition> {
    const text = 'select pg_current_wal_insert_lsn()::text';
    try {
      const { rows } = await this.#databases
        .database(shard)
        .query({ text, values: [] }, { access: INTERNAL_ACCESS });
      return String(rows[0]?.[0]);
    } catch (error) {
      throw error instanceof DriverFailure ? publicError(error, shard) : error;
    }
  }

  /** The positions of many shards, to be handed to a later read. */
  async positions(shards: readonly ShardIdentifier[]): Promise<ReadonlyMap<ShardIdentifier, LogPosition>> {
    const entries = shards.map(async (shard) => [shard, await this.position(shard)] as const);
    return new Map(await Promise.all(entries));
  }

  /**
   * A database to read from: each of its statements goes to the replica if that is there and recent enough, and to the
   * primary otherwise. A statement that fails because the replica is lost or in conflict is run on the primary.
   *
   * @throws ValidationError for what is no log position
   */
  reader(shard: ShardIdentifier, read: ReplicaRead): ShardDatabase {
    const after = read.after?.get(shard);
    if (after !== undefined && !LOG_POSITION.test(after)) {
      throw new ValidationError('A log position looks like 0/16B3748', { field: 'after' });
    }
    const primary = this.#databases.database(shard);
    const choose = (options?: CallOptions): Promise<ShardDatabase> =>
      this.#choose(shard, primary, { after, waitMs: read.waitMs ?? 0 }, options);
    return {
      shard,
      kind: primary.kind,
      description: primary.description,
      sessionState: primary.sessionState,
      query: async (statement, options) => {
        const chosen = await choose(options);
        if (chosen === primary) return primary.query(statement, options);
        return chosen.query(statement, options).catch((error: unknown) => {
          if (!this.#isReplicasOwn(shard, error)) throw error;
          return primary.query(statement, options);
        });
      },
      acquire: async (options) => (await choose(options)).acquire(options),
      stats: () => primary.stats(),
      close: () => Promise.resolve(),
    };
  }

  async #choose(
    shard: ShardIdentifier,
    primary: ShardDatabase,
    { after, waitMs }: { readonly after: LogPosition | undefined; readonly waitMs: number },
    options: CallOptions | undefined,
  ): Promise<ShardDatabase> {
    if (!this.#isAllowed()) return primary;
    if ((this.#restUntil.get(shard) ?? 0) > time.nowMs()) return primary;
    const replica = this.#replica(shard);
    if (replica === undefined) return primary;
    try {
      await replica.identity;
      const recent = after === undefined || (await hasReplayed(replica.database, after, waitMs, options));
      return recent ? replica.database : primary;
    } catch (error) {
      if (!this.#isReplicasOwn(shard, error)) throw error;
      return primary;
    }
  }

  #replica(shard: ShardIdentifier): ReplicaState | undefined {
    const known = this.#replicas.get(shard);
    const database = this.#databases.replica(shard);
    if (database === undefined || known?.database === database) return known;
    const state = { database, identity: requireIdentity(database, shard) };
    this.#replicas.set(shard, state);
    // A look that failed for a passing reason is taken again.
    state.identity.catch((error: unknown) => {
      if (!(error instanceof ShardIdentityError)) this.#replicas.delete(shard);
    });
    return state;
  }

  /** Whether the primary may still answer. If it is the replica that is down, it gets a rest. */
  #isReplicasOwn(shard: ShardIdentifier, error: unknown): boolean {
    if (!(error instanceof DriverFailure)) return false;
    const { sqlState } = error;
    if (sqlState === undefined || sqlStateMeaning(sqlState) === 'unavailable') {
      this.#restUntil.set(shard, time.nowMs() + REST_AFTER_FAILURE_MS);
      return true;
    }
    // A query on a standby may be cancelled because the log removes rows that it needs.
    return sqlStateMeaning(sqlState) === 'transient';
  }
}

async function hasReplayed(
  replica: ShardDatabase,
  after: LogPosition,
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

/** @throws ShardIdentityError if the replica is one of another shard */
async function requireIdentity(replica: ShardDatabase, shard: ShardIdentifier): Promise<void> {
  const text = 'select group_number, member_number from eventlog.shard';
  const { rows } = await replica.query({ text, values: [] });
  const [group, member] = rows[0] ?? [];
  if (group === shard.group && member === shard.member) return;
  throw new ShardIdentityError(
    `${replica.description} is configured as the replica of shard ${shard}, but it is shard ` +
      `(${String(group)}, ${String(member)}). Is secondary-config that of another member?`,
  );
}
