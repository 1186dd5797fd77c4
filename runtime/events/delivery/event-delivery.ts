import type { ActionRegistry } from '../../action/action-registry.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { UnknownHandlerError } from '../../errors.js';
import type { ActionExecutor } from '../../execution/action-executor.js';
import type { WriteGroup } from '../../persistence/shard-store.js';
import type { RetentionOptions, RetentionReport } from '../../retention/retain.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import type { TopologyChange } from '../../sharding/topology-changes.js';
import type { DeadLetters } from '../dead-letters/dead-letters.js';
import type { ReplayFrom, ReplayOptions } from '../dead-letters/replays.js';
import { EventOperations, type FailoverReport, type OrderedReplay } from '../event-operations.js';
import { Interest } from '../log/interest.js';
import type { ShardLag } from '../log/lag.js';
import type { Rebased } from '../log/rebase.js';
import type { Schedules } from '../schedules/schedules.js';
import { type Consumer, checkHandlers, handlerConsumer } from './consumer.js';
import type { DeliveryLimits } from './delivery-limits.js';
import { DeliveryProcess } from './delivery-process.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

/** The dependencies and options of delivery. */
export interface EventDeliveryOptions {
  readonly databases: DatabaseRegistry;
  readonly handlers: readonly HandlerDescriptor[];
  /** Consumers besides the handlers: relay sinks. Default none. */
  readonly sinks?: readonly Consumer[];
  readonly executor: ActionExecutor;
  readonly registry: ActionRegistry;
  readonly limits?: Partial<DeliveryLimits>;
  /** From 0 to 1, for the jitter of pauses. Default: the machine's. */
  readonly random?: () => number;
  /** Receives warnings for operators. Default: standard error. */
  readonly warn?: (message: string) => void;
}

/** Delivers committed events to handlers and runs scheduled actions, on all shards. */
export class EventDelivery {
  /** Events on which handlers failed. */
  readonly deadLetters: DeadLetters;
  /** Scheduled actions. */
  readonly schedules: Schedules;
  readonly #options: EventDeliveryOptions;
  readonly #operations: EventOperations;
  readonly #interest: Interest;
  readonly #delivery: DeliveryProcess;

  /**
   * @throws ValidationError if two handlers have the same name, a name is invalid, or upcasters are missing
   *
   * @internal
   */
  constructor(options: EventDeliveryOptions) {
    const {
      databases,
      handlers,
      sinks = [],
      executor,
      registry,
      limits = {},
      random = Math.random,
    } = options;
    checkHandlers(handlers);
    this.#options = options;
    this.#interest = new Interest(handlers, sinks.length > 0);
    this.#delivery = new DeliveryProcess({
      databases,
      consumers: [...handlers.map((handler) => handlerConsumer(handler, executor, random)), ...sinks],
      actions: { executor, registry },
      limits,
      random,
      warn: options.warn ?? ((message) => console.warn(message)),
    });
    this.#operations = new EventOperations(databases, () => this.#delivery.wakeAll());
    this.deadLetters = this.#operations.deadLetters;
    this.schedules = this.#operations.schedules;
  }

  /**
   * Stores on a shard what the handlers and sinks select. A process of an earlier release then no longer passes over
   * events that only this one selects. `openApplication` puts no shard into service before. After
   * `assembleApplication`, call it for each database before the first action.
   *
   * @throws EventEpochError if a new handler starts from now, and the log belongs to another server
   */
  register(database: ShardDatabase): Promise<void> {
    return this.#delivery.register(database);
  }

  /**
   * Starts delivery in this process, in parallel with other processes. A second call has no effect.
   *
   * @internal
   */
  start(): void {
    this.#delivery.start();
  }

  /**
   * Waits for handlers to finish (5,000 ms at most by default), saves checkpoints and releases leases. Does not wait
   * for a database that does not answer, whose leases expire by themselves.
   *
   * @internal
   */
  stop(graceMs?: number): Promise<void> {
    return this.#delivery.stop(graceMs);
  }

  /**
   * Must be called after a topology change of the databases: starts delivery on new shards, stops it on removed ones,
   * and listens again where connections were replaced.
   *
   * @internal
   */
  topologyChanged(changes: readonly TopologyChange[]): Promise<void> {
    return this.#delivery.topologyChanged(changes);
  }

  /**
   * Must be called after a commit of this process on this shard. Returns at once.
   *
   * @param groups the committed writes; writes without events for a handler wake none. Default: every handler is woken
   *
   * @internal
   */
  committed(shard: ShardIdentifier, groups?: readonly WriteGroup[]): void {
    if (groups === undefined || this.#interest.concerns(groups)) this.#delivery.committed(shard);
  }

  /**
   * The progress of each handler on each shard, and what delays delivery.
   *
   * @param shard only this shard. Default: all
   */
  lag(shard?: ShardIdentifier): Promise<readonly ShardLag[]> {
    return this.#operations.lag(shard);
  }

  /**
   * Unacknowledged failovers of one shard, with the effects of lost events on other shards. Lost events cannot be
   * recovered.
   */
  failovers(shard: ShardIdentifier): Promise<readonly FailoverReport[]> {
    return this.#operations.failovers(shard);
  }

  /**
   * Resumes a halted relay sink at its checkpoint. Its consumer is named `relay:<sink>`.
   *
   * @param shard only this shard. Default: all
   * @returns on how many shards it was halted
   */
  resume(consumer: string, shard?: ShardIdentifier): Promise<number> {
    return this.#operations.resume(consumer, shard);
  }

  /** Marks the failovers of a shard as handled. @returns how many there were */
  acknowledgeFailovers(shard: ShardIdentifier): Promise<number> {
    return this.#operations.acknowledgeFailovers(shard);
  }

  /**
   * Replays handled events to one handler, in parallel with its live delivery: those from a time or a position on, or
   * those of one model. A process that has the handler runs the replay.
   *
   * @param shard only this shard; required for a position. Default: all, or the model's own
   * @returns one replay for each shard with events to replay
   * @throws UnknownHandlerError if the application has no such handler, or it has never run
   */
  async replay(
    handler: string,
    from: ReplayFrom,
    options: ReplayOptions & { readonly shard?: ShardIdentifier } = {},
  ): Promise<readonly OrderedReplay[]> {
    this.#requireHandler(handler);
    const replays = await this.#operations.replay(handler, from, options);
    this.#delivery.lookAround();
    return replays;
  }

  /**
   * Resumes delivery after shards were restored on, or moved to, another server (EventEpochError). Stop all writes to
   * the old server first. Needs the rights of the outbox's owner.
   */
  rebase(shard?: ShardIdentifier): Promise<readonly Rebased[]> {
    return this.#operations.rebase(shard);
  }

  /** See `EventOperations.retain`. @throws ValidationError for invalid options */
  retain(
    options: RetentionOptions & { readonly shard?: ShardIdentifier },
  ): Promise<readonly RetentionReport[]> {
    return this.#operations.retain(options);
  }

  /** The instant from which the event history of a shard is complete; undefined: from the beginning. */
  completeFrom(shard: ShardIdentifier): Promise<Date | undefined> {
    return this.#operations.completeFrom(shard);
  }

  #requireHandler(name: string): void {
    const { handlers, sinks = [] } = this.#options;
    if ([...handlers, ...sinks].some((consumer) => consumer.name === name)) return;
    throw new UnknownHandlerError(`There is no handler ${name}`);
  }
}
