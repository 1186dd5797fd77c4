import { ShardedId } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { UnknownHandlerError, ValidationError } from '../errors.js';
import { readCompleteFrom } from '../retention/complete-from.js';
import { type RetentionOptions, type RetentionReport, retain } from '../retention/retain.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { type Failover, FailoverRegister } from '../sharding/failover-register.js';
import { findLostCauses, type LostCause } from '../sharding/lost-causes.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { DeadLetters } from './dead-letters/dead-letters.js';
import {
  checkReplayFrom,
  orderReplay,
  type ReplayFrom,
  type ReplayOptions,
  readReplayable,
} from './dead-letters/replays.js';
import { resume } from './delivery/consumer-store.js';
import { readLag, type ShardLag } from './log/lag.js';
import { type Rebased, rebase } from './log/rebase.js';
import { Schedules } from './schedules/schedules.js';

/** A replay that was ordered. */
export interface OrderedReplay {
  readonly shard: ShardIdentifier;
  /** Name of its consumer in `lag()`, while it runs. */
  readonly name: string;
}

/** A failover, and what is on other shards because of what it has lost. */
export interface FailoverReport extends Failover {
  readonly lostCauses: readonly LostCause[];
}

/** Queries and operations on delivery for operators. Needs only the databases: neither handlers nor actions. */
export class EventOperations {
  /** Events that handlers could not take. */
  readonly deadLetters: DeadLetters;
  /** Scheduled actions. */
  readonly schedules: Schedules;
  readonly #registry: DatabaseRegistry;

  /** @param changed called when there is something to resume. Default: other processes find out by themselves */
  constructor(registry: DatabaseRegistry, changed: () => void = () => {}) {
    this.#registry = registry;
    const databases = (shard: ShardIdentifier | undefined): readonly ShardDatabase[] =>
      this.#databases(shard);
    this.deadLetters = new DeadLetters(databases, changed);
    this.schedules = new Schedules(databases, changed);
  }

  /**
   * How far each handler has come on each shard, and what holds delivery up.
   *
   * @param shard this one alone. Default: all
   */
  lag(shard?: ShardIdentifier): Promise<readonly ShardLag[]> {
    return Promise.all(this.#databases(shard).map((database) => readLag(database)));
  }

  /**
   * Has one handler handle events again that it has handled before, beside its live delivery: from a time or a position
   * on, or all those of one model. Runs in whatever process has the handler.
   *
   * @param shard this one alone; needed for a position. Default: all, or the model's own
   * @returns one replay for each shard that has anything to replay
   * @throws UnknownHandlerError if the handler has never run on any of these shards
   * @throws ValidationError for a date or position that is none, or a position without a shard
   */
  async replay(
    handler: string,
    from: ReplayFrom,
    options: ReplayOptions & { readonly shard?: ShardIdentifier } = {},
  ): Promise<readonly OrderedReplay[]> {
    checkReplayFrom(from);
    const databases = this.#databases(options.shard ?? shardOf(from));
    if ('position' in from && databases.length > 1) {
      throw new ValidationError('A position belongs to one shard: name it', { field: 'shard' });
    }
    // All are asked before anything is ordered on the first.
    const asked = await Promise.all(
      databases.map(async (database) => ({ database, known: await readReplayable(database, handler) })),
    );
    if (asked.every(({ known }) => known === undefined)) {
      throw new UnknownHandlerError(`${handler} has no checkpoint on ${placesOf(databases)}`);
    }
    const ordered = await Promise.all(
      asked.map(async ({ database, known }) => {
        const name = known === undefined ? undefined : await orderReplay(database, known, from, options);
        return name === undefined ? [] : [{ shard: database.shard, name }];
      }),
    );
    return ordered.flat();
  }

  /**
   * Unacknowledged failovers of one shard, with the effects of lost events on other shards. Lost events
   * cannot be recovered: this is what can be known about them.
   */
  async failovers(shard: ShardIdentifier): Promise<readonly FailoverReport[]> {
    const failovers = await new FailoverRegister(this.#registry.database(shard)).unacknowledged();
    return Promise.all(
      failovers.map(async (failover) => ({
        ...failover,
        lostCauses: await findLostCauses(this.#registry, shard, failover),
      })),
    );
  }

  /**
   * Resumes a halted consumer at its checkpoint.
   *
   * @param shard this one alone. Default: all
   * @returns how many had stopped
   */
  async resume(consumer: string, shard?: ShardIdentifier): Promise<number> {
    const resumed = await Promise.all(this.#databases(shard).map((database) => resume(database, consumer)));
    return resumed.reduce((sum, each) => sum + each, 0);
  }

  /** Marks the failovers of a shard as handled. @returns how many there were */
  acknowledgeFailovers(shard: ShardIdentifier): Promise<number> {
    return new FailoverRegister(this.#registry.database(shard)).acknowledge();
  }

  /**
   * Resumes delivery after shards were restored on, or moved to, another server (EventEpochError). Stop all writes to
   * the old server first. Needs the rights of the outbox's owner.
   */
  async rebase(shard?: ShardIdentifier): Promise<readonly Rebased[]> {
    const results: Rebased[] = [];
    for (const database of this.#databases(shard)) results.push(await rebase(database));
    return results;
  }

  /**
   * Makes partitions of outbox and audit trail ahead, and deletes what is older than asked for and not needed any more.
   * Needs the rights of the tables' owner.
   *
   * @param options.shard this one alone. Default: all
   * @throws ValidationError for options that make no sense
   */
  async retain(
    options: RetentionOptions & { readonly shard?: ShardIdentifier },
  ): Promise<readonly RetentionReport[]> {
    const { shard, ...rest } = options;
    const all = this.#databases(undefined);
    const reports: RetentionReport[] = [];
    for (const database of this.#databases(shard))
      reports.push(await retain({ database, all }, rest, new Date()));
    return reports;
  }

  /** From when on the event history of a shard is complete; undefined: from the beginning. */
  completeFrom(shard: ShardIdentifier): Promise<Date | undefined> {
    return readCompleteFrom(this.#registry.database(shard));
  }

  #databases(shard: ShardIdentifier | undefined): readonly ShardDatabase[] {
    const shards = shard === undefined ? this.#registry.shards() : [shard];
    return shards.map((each) => this.#registry.database(each));
  }
}

function shardOf(from: ReplayFrom): ShardIdentifier | undefined {
  if (!('model' in from)) return undefined;
  const { model } = from;
  return model instanceof ShardedId ? model.resolveShardIdentifier() : undefined;
}

function placesOf(databases: readonly ShardDatabase[]): string {
  return databases.length === 1 ? `shard ${String(databases[0]?.shard)}` : 'any shard';
}
