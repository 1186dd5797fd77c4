import { shardOfUuid } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { isUuid } from '../domain/uuid.js';
import { readCompleteFrom } from '../retention/complete-from.js';
import { type RetentionOptions, type RetentionReport, retain } from '../retention/retain.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { type Failover, FailoverRegister } from '../sharding/failover-register.js';
import { findLostCauses, type LostCause } from '../sharding/lost-causes.js';
import { callShard } from '../sharding/public-error.js';
import { DeadLetters } from './dead-letters/dead-letters.js';
import { OperatedShards } from './delivery/operated-shards.js';
import { readLag, type ShardLag } from './lag.js';
import { type Rebased, rebase } from './log/rebase.js';
import { type HistoryEntry, type HistoryOptions, readHistory } from './model-history.js';
import {
  type OrderedReplay,
  type RebuildProgress,
  type ReplayFrom,
  type ReplayOptions,
  Replays,
} from './replays.js';
import { Schedules } from './schedules/schedules.js';

/** A failover, with the effects of its lost events on other shards. */
export interface FailoverReport extends Failover {
  readonly lostCauses: readonly LostCause[];
}

/** Queries and operations on delivery for operators. Needs only the databases: neither handlers nor actions. */
export class EventOperations {
  /** Events on which handlers failed. */
  readonly deadLetters: DeadLetters;
  /** Scheduled actions. */
  readonly schedules: Schedules;
  readonly #registry: DatabaseRegistry;
  readonly #shards: OperatedShards;
  readonly #replays: Replays;

  /** @param changed called when there is work to resume. Default: other processes find it by polling */
  constructor(registry: DatabaseRegistry, changed: () => void = () => {}) {
    this.#registry = registry;
    this.#shards = new OperatedShards(registry, changed);
    this.deadLetters = new DeadLetters(this.#shards);
    this.schedules = new Schedules(this.#shards);
    this.#replays = new Replays(this.#shards);
  }

  /**
   * The progress of each handler on each shard, and what delays delivery.
   *
   * @param shard only this shard. Default: all
   */
  lag(shard?: ShardIdentifier): Promise<readonly ShardLag[]> {
    return this.#shards.ask(shard, readLag);
  }

  /**
   * The last events of a model, oldest first, each with its action and principal. Events that retention has deleted are
   * missing.
   *
   * @param options `shard`: only this one. Default: that of the id, or all if the id names none
   * @throws ValidationError for an invalid date
   */
  async history(
    modelId: string,
    {
      shard = isUuid(modelId) ? shardOfUuid(modelId) : undefined,
      ...options
    }: HistoryOptions & { readonly shard?: ShardIdentifier | undefined } = {},
  ): Promise<readonly HistoryEntry[]> {
    return (await this.#shards.ask(shard, (database) => readHistory(database, modelId, options))).flat();
  }

  /**
   * Replays handled events to one handler, in parallel with its live delivery: those from a time or a position on, or
   * those of one model. A process that has the handler runs the replay.
   *
   * @param shard only this shard; required for a position. Default: all, or the model's own
   * @returns one replay for each shard with events to replay
   * @throws UnknownHandlerError if the handler has never run on any of these shards
   * @throws ValidationError for an invalid date or position, a position without a shard, or a transactional handler
   *   without `again`
   */
  async replay(
    handler: string,
    from: ReplayFrom,
    options: ReplayOptions & { readonly shard?: ShardIdentifier } = {},
  ): Promise<readonly OrderedReplay[]> {
    this.requireHandler(handler, false);
    return this.#replays.replay(handler, from, options);
  }

  /**
   * Rebuilds the projection of a transactional handler from the log: beside the rows that are read, which it replaces
   * in one transaction once it has caught up. A process whose handler declares the `projection` does the work.
   *
   * @param shard only this shard. Default: all
   * @returns one rebuild for each shard on which the handler has run
   * @throws UnknownHandlerError if the handler has never run on any of these shards
   * @throws ValidationError if it is not transactional, is being rebuilt, or retention has deleted events
   */
  async rebuild(handler: string, shard?: ShardIdentifier): Promise<readonly OrderedReplay[]> {
    this.requireHandler(handler, true);
    return this.#replays.rebuild(handler, shard);
  }

  /** Called before a replay or a rebuild is ordered. @internal */
  protected requireHandler(_handler: string, _isRebuilt: boolean): void {}

  /**
   * How far the rebuilds of a handler are that are under way.
   *
   * @param shard only this shard. Default: all
   * @param finished instead those that have replaced the rows. An abandoned one is neither. Default false
   */
  rebuilds(handler: string, shard?: ShardIdentifier, finished = false): Promise<readonly RebuildProgress[]> {
    return this.#replays.rebuilds(handler, shard, finished);
  }

  /** Ends the rebuilds of a handler that are under way, and drops their tables. @returns their number */
  abandonRebuild(handler: string, shard?: ShardIdentifier): Promise<number> {
    return this.#replays.abandonRebuild(handler, shard);
  }

  /**
   * Unacknowledged failovers of one shard, with the effects of lost events on other shards. Lost events cannot be
   * recovered.
   */
  async failovers(shard: ShardIdentifier): Promise<readonly FailoverReport[]> {
    const register = new FailoverRegister(this.#registry.database(shard));
    const failovers = await callShard(shard, () => register.unacknowledged());
    return Promise.all(
      failovers.map(async (failover) => ({
        ...failover,
        lostCauses: await findLostCauses(this.#registry, shard, failover),
      })),
    );
  }

  /**
   * Resumes a halted consumer at its checkpoint. Ends the pauses of one that waits for its receiver: within about ten
   * seconds, its events are attempted again.
   *
   * @param shard only this shard. Default: all
   * @returns on how many shards it was halted or waited
   */
  resume(consumer: string, shard?: ShardIdentifier): Promise<number> {
    return this.#shards.change(shard, { text: RESUME, values: [consumer] });
  }

  /**
   * Narrows the stored selection of a handler or sink on purpose. Processes that do not select the item may then move
   * its checkpoint past the events that it selects.
   *
   * @param item `event:<name>`, `model:<name>` or `transactional`, as `lag()` shows it
   * @param shard only this shard. Default: all
   * @returns on how many shards the selection had it
   */
  narrow(consumer: string, item: string, shard?: ShardIdentifier): Promise<number> {
    return this.#shards.change(shard, { text: NARROW, values: [consumer, item] });
  }

  /**
   * Marks failovers of a shard as handled. One that a process has reported more losses for since it was read stays.
   *
   * @param seen from `failovers`
   * @returns how many it has marked
   */
  async acknowledgeFailovers(shard: ShardIdentifier, seen: readonly Failover[]): Promise<number> {
    const register = new FailoverRegister(this.#registry.database(shard));
    return callShard(shard, () => register.acknowledge(seen));
  }

  /**
   * Resumes delivery after shards were restored on, or moved to, another server (EventEpochError). Stop all writes to
   * the old server first. Needs the rights of the outbox's owner.
   */
  async rebase(shard?: ShardIdentifier): Promise<readonly Rebased[]> {
    const results: Rebased[] = [];
    for (const database of this.#shards.databases(shard))
      results.push(await callShard(database.shard, () => rebase(database)));
    return results;
  }

  /**
   * Creates future partitions of the outbox and the audit trail, and deletes rows that are older than the given age and
   * no longer needed. Needs the rights of the tables' owner.
   *
   * @param options.shard only this shard. Default: all
   * @throws ValidationError for invalid options
   */
  async retain(
    options: RetentionOptions & { readonly shard?: ShardIdentifier },
  ): Promise<readonly RetentionReport[]> {
    const { shard, ...rest } = options;
    const all = this.#shards.databases(undefined);
    const reports: RetentionReport[] = [];
    for (const database of this.#shards.databases(shard))
      reports.push(await callShard(database.shard, () => retain({ database, all }, rest)));
    return reports;
  }

  /** The instant from which the event history of a shard is complete; undefined: from the beginning. */
  async completeFrom(shard: ShardIdentifier): Promise<Date | undefined> {
    const database = this.#registry.database(shard);
    return callShard(shard, () => readCompleteFrom(database));
  }
}

/** Removes an item from the stored selection of a consumer: events of this class are no longer meant for it. */
const NARROW = `UPDATE eventlog.consumers SET selects = array_remove(selects, $2::text), waiting_for = NULL
WHERE name = $1 AND kind = 'live' AND $2 = ANY (selects)`;

/** The holder of a lease with an earlier fence ends its run, whose memory holds the pauses. */
const RESUME = `UPDATE eventlog.consumers SET halted = NULL, waiting_for = NULL, fence = fence + (halted IS NULL)::int
WHERE name = $1 AND (halted IS NOT NULL OR (waiting_for IS NOT NULL AND holder IS NOT NULL))`;
