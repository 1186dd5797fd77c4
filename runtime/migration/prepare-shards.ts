import { type Backoff, backoffMs } from '../concurrency/backoff.js';
import { sleep, time } from '../concurrency/time.js';
import type { ModelDescriptor } from '../domain/entity.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import {
  ClosedError,
  DefaultShardError,
  MigrationError,
  messageOf,
  UnknownShardError,
  UnsafeServerError,
} from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { onEachShard, SHARDS_AT_ONCE, type ShardOutcome } from '../sharding/each-shard.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { type SqlStateMeaning, sqlStateMeaning } from '../sharding/sql-state.js';
import { StoredDefaultShard } from './default-shard.js';
import { type MigrateOptions, migrateShard } from './migrate.js';
import { orMigrationError } from './migration.js';
import { type SchemaSnapshot, snapshotSchema } from './schema-snapshot.js';
import { compareSchemas, describeDifference, firstOf } from './shard-drift.js';
import { expectedTable, tableDrift } from './table-drift.js';
import { verifyShard } from './verify-shard.js';

/** Options for preparing shards before they are used. */
export interface PrepareOptions extends Omit<MigrateOptions, 'progress'> {
  /** Models whose tables must match. */
  readonly models: readonly ModelDescriptor[];
  /**
   * Reaction to tables that do not match the models. `refuse`: their shard is not served. `warn`: it is served, and
   * statements on those tables will fail. Default `refuse`.
   */
  readonly drift?: 'refuse' | 'warn';
  /** False: migrations run separately, and each shard is verified instead. Default: true. */
  readonly migrateAtStart?: boolean;
  /**
   * Called for each shard as the last step of its preparation. If it fails, the shard stays out of service until it
   * succeeds. Default: nothing.
   */
  readonly beforeService?: (database: ShardDatabase) => Promise<void>;
  /** Receives warnings for operators: which shard is out of service, and why. Default: standard error. */
  readonly warn?: (message: string) => void;
  /** Receives the progress of the preparation. Default: discarded. */
  readonly inform?: (message: string) => void;
}

/** A database that does not answer within this time counts as unreachable, in milliseconds. */
const ANSWER_MS = 3_000;
/** The same for an embedded database, which must start first. */
const EMBEDDED_START_MS = 600_000;
/** Once one shard serves, the preparation of the others is awaited for this time, in milliseconds. */
const OTHERS_MS = 30_000;
/** First pause before an unreachable shard is tried again, in milliseconds. It doubles up to the maximum. */
const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 1_000;
/** Pauses are longer if many shards wait: in all, a process makes at most 20 to 40 attempts per second. */
const PAUSE_PER_SHARD_MS = 50;
/** Maximum pause for a shard that an operator must repair: if each attempt may take locks, and if it only reads. */
const LONGEST_MENDING_PAUSE_MS = 30_000;
const LONGEST_VERIFYING_PAUSE_MS = 2_000;

/**
 * Puts shards into service: each is migrated (or verified), its identity and its tables are checked, `beforeService` is
 * called, and only then does it receive calls of the application. A shard for which that fails is out of service (`DatabaseRegistry.withheld`),
 * and the others serve. Its preparation is retried until it succeeds or the databases are closed.
 *
 * Resolves when every shard serves or has failed once; if at least one serves, it does not wait for slow ones.
 *
 * @throws the error of the first shard, if none can be served and each has failed for a reason that does not pass by
 *   itself (a migration, a wrong identity)
 * @throws UnsafeServerError, DefaultShardError if one of the servers may lose acknowledged commits, or knows another
 *   default shard: these are mistakes of the configuration
 */
export async function prepareShards(
  databases: DatabaseRegistry,
  options: PrepareOptions,
): Promise<ShardPreparation> {
  const preparation = new ShardPreparation(databases, options);
  await preparation.begin();
  return preparation;
}

/** Prepares the shards of one process for service. */
export class ShardPreparation {
  readonly #databases: DatabaseRegistry;
  readonly #options: PrepareOptions;
  readonly #warn: (message: string) => void;
  readonly #snapshots: ShardOutcome<SchemaSnapshot>[] = [];
  readonly #defaultShard: StoredDefaultShard;
  #again: AbortController = new AbortController();
  #isGivenUp = false;
  /** Number of shards that are tried again. */
  #waiting = 0;
  #othersMayWait = (): void => {};

  constructor(databases: DatabaseRegistry, options: PrepareOptions) {
    this.#databases = databases;
    this.#options = options;
    this.#defaultShard = new StoredDefaultShard(databases.defaultShard);
    this.#warn = options.warn ?? ((message) => console.warn(message));
  }

  /** See `prepareShards`. Must be called once. */
  async begin(): Promise<void> {
    const shards = this.#databases.shards();
    for (const shard of shards) this.#databases.withhold(shard, 'it is being prepared');
    const enoughServe = new Promise<undefined>((resolve) => {
      this.#othersMayWait = () => resolve(undefined);
    });
    const first = onEachShard(shards, this.#options.atOnce ?? SHARDS_AT_ONCE, (shard) => this.#begin(shard));
    const outcomes = await Promise.race([first, enoughServe]);
    if (outcomes === undefined) this.#warnOfThoseUnderWay();
    else {
      const failure = hopelessness(outcomes, this.#databases);
      if (failure !== undefined) this.#giveUp(failure.error);
    }
    await this.#defaultShard.agree().catch((error: unknown) => this.#giveUp(error));
    if (outcomes === undefined) return;
    // Differences in something that no model needs, such as an index: the shards are served.
    for (const drift of compareSchemas(this.#snapshots, { tables: [] })) {
      const difference = describeDifference(drift);
      if (difference !== '')
        this.#warn(`The schema of shard ${drift.shard} differs from ${drift.comparedWith}: ${difference}`);
    }
  }

  #giveUp(error: unknown): never {
    this.#isGivenUp = true;
    throw error;
  }

  /** Retries at once, because something has changed. */
  retry(): void {
    this.#again.abort();
    this.#again = new AbortController();
  }

  /** The first attempt. If it fails, further ones follow in the background. */
  async #begin(shard: ShardIdentifier): Promise<void> {
    try {
      await this.#takeIntoService(shard);
    } catch (error) {
      this.#report(shard, error);
      this.#waiting += 1;
      void this.#goOn(shard, error).finally(() => {
        this.#waiting -= 1;
      });
      throw error;
    }
  }

  #warnOfThoseUnderWay(): void {
    for (const shard of this.#databases.shards()) {
      const reason = this.#databases.withheld(shard);
      if (reason !== undefined) this.#warn(`${nameOf(this.#databases, shard)} is out of service: ${reason}`);
    }
  }

  async #goOn(shard: ShardIdentifier, failure: unknown): Promise<void> {
    let last = failure;
    let failures = 1;
    while (!isOver(last)) {
      const pauseMs = backoffMs(failures, this.#backoff(shard, last), Math.random());
      await sleep(pauseMs, { ref: false, signal: this.#again.signal }).catch(() => {});
      if (this.#isGivenUp || this.#databases.isClosed || !this.#databases.has(shard)) return;
      try {
        await this.#takeIntoService(shard);
        return;
      } catch (error) {
        // A reachable shard that needs a repair starts with short pauses, however long it was out of reach.
        failures =
          isPassing(this.#databases, shard, error) === isPassing(this.#databases, shard, last)
            ? failures + 1
            : 1;
        last = error;
        this.#report(shard, error);
      }
    }
  }

  #backoff(shard: ShardIdentifier, failure: unknown): Backoff {
    const mendingMs =
      this.#options.migrateAtStart === false ? LONGEST_VERIFYING_PAUSE_MS : LONGEST_MENDING_PAUSE_MS;
    const longestMs = isPassing(this.#databases, shard, failure) ? LONGEST_PAUSE_MS : mendingMs;
    const ofAllMs = this.#waiting * PAUSE_PER_SHARD_MS;
    return {
      firstMs: Math.max(SHORTEST_PAUSE_MS, ofAllMs),
      longestMs: Math.max(longestMs, ofAllMs),
      least: 'half',
    };
  }

  async #takeIntoService(shard: ShardIdentifier): Promise<void> {
    const startedAt = time.nowMs();
    const reason = this.#databases.withheld(shard) ?? 'it is being prepared';
    const database = this.#databases.withhold(shard, reason);
    await requireAnswer(database);
    this.#options.inform?.(`preparing ${nameOf(this.#databases, shard)}`);
    const applied = await bringUpToDate(database, this.#databases, this.#options);
    const schema = await snapshotSchema(database);
    this.#requireFit(shard, schema);
    await this.#defaultShard.check(database);
    await this.#options.beforeService?.(database);
    this.#snapshots.push({ shard, ok: true, value: schema });
    this.#databases.admit(shard);
    const migrated = applied === 0 ? '' : `: ${applied} migration${applied === 1 ? '' : 's'} applied`;
    this.#options.inform?.(`${nameOf(this.#databases, shard)} is up to date${migrated}`);
    const waitedMs = time.nowMs() - startedAt;
    time.setTimeout(this.#othersMayWait, Math.max(0, OTHERS_MS - waitedMs)).unref();
  }

  /** Refuses a shard whose tables do not match the models, because requests would fail one by one. */
  #requireFit(shard: ShardIdentifier, schema: SchemaSnapshot): void {
    const { models, drift } = this.#options;
    const misfits = tableDrift(models.map(expectedTable), schema);
    if (misfits.length === 0) return;
    const message =
      `The tables do not match the models. Shard ${shard}: ${firstOf(misfits)}. Write a migration (fw-gen migrate diff), ` +
      'or run the newer release, if one has migrated the shard (fw-gen migrate status: ahead).';
    if (drift !== 'warn') throw new MigrationError(message);
    this.#warn(message);
  }

  #report(shard: ShardIdentifier, error: unknown): void {
    if (isOver(error) || !this.#databases.has(shard)) return;
    // The same text for each failure of one kind: while its circuit is open, a database fails without an attempt.
    const reason = messageOf(error).replace('not tried: ', '');
    if (this.#databases.withheld(shard) === reason) return;
    this.#databases.withhold(shard, reason);
    this.#warn(`${nameOf(this.#databases, shard)} is out of service: ${reason}`);
  }
}

function nameOf(databases: DatabaseRegistry, shard: ShardIdentifier): string {
  return `shard ${databases.memberConfig(shard).name} ${shard.toString()}`;
}

/** @returns how many migrations were applied */
async function bringUpToDate(
  database: ShardDatabase,
  databases: DatabaseRegistry,
  options: PrepareOptions,
): Promise<number> {
  const member = databases.memberConfig(database.shard);
  if (options.migrateAtStart !== false) {
    const { defaultShard } = databases;
    return (await migrateShard(database, member, { ...options, defaultShard })).applied.length;
  }
  await verifyShard(database, member, options);
  return 0;
}

/** The failure with which the process must not start: a mistake of the configuration, or no shard can ever serve. */
function hopelessness(
  outcomes: readonly ShardOutcome<void>[],
  databases: DatabaseRegistry,
): { readonly error: unknown } | undefined {
  const failures = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome]));
  const isMistake = (error: unknown): boolean =>
    error instanceof UnsafeServerError || error instanceof DefaultShardError;
  const mistake = failures.find(({ error }) => isMistake(error));
  if (mistake !== undefined) return mistake;
  const isOver =
    failures.length === outcomes.length &&
    !failures.some(({ shard, error }) => isPassing(databases, shard, error));
  return isOver ? failures[0] : undefined;
}

/** Checks that the server answers, because later steps may take long. @throws MigrationError */
async function requireAnswer(database: ShardDatabase): Promise<void> {
  const timeoutMs = database.kind === 'pglite' ? EMBEDDED_START_MS : ANSWER_MS;
  const ask = () => database.query({ text: 'select 1', values: [] }, { timeoutMs });
  await orMigrationError(`Shard ${database.shard} does not answer`, ask);
}

const PASSING: readonly SqlStateMeaning[] = ['unavailable', 'saturated', 'transient', 'locked'];

/** Whether the failure may resolve by itself. An embedded database that cannot be opened does not. */
function isPassing(databases: DatabaseRegistry, shard: ShardIdentifier, error: unknown): boolean {
  if (databases.memberConfig(shard).primary.url.kind !== 'postgresql') return false;
  const cause = error instanceof MigrationError ? error.cause : error;
  if (!(cause instanceof DriverFailure)) return false;
  if (cause.sqlState === undefined) return true;
  return PASSING.includes(sqlStateMeaning(cause.sqlState));
}

/** The databases were closed, or a reload has removed the shard. */
function isOver(error: unknown): boolean {
  if (error instanceof ClosedError || error instanceof UnknownShardError) return true;
  const cause = error instanceof MigrationError ? error.cause : error;
  return cause instanceof DriverFailure && cause.reason === 'closed';
}
