import type { ActionRegistry } from '../action/action-registry.js';
import type { Logger } from '../domain/logger.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { UnknownHandlerError, ValidationError } from '../errors.js';
import type { ActionExecutor } from '../execution/action-executor.js';
import type { WriteGroup } from '../persistence/shard-store.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { type Consumer, checkHandlers, handlerConsumer } from './delivery/consumer.js';
import type { DeliveryLimits } from './delivery/delivery-limits.js';
import { DeliveryProcess } from './delivery/delivery-process.js';
import type { HandlerDescriptor } from './delivery/handler-descriptor.js';
import { interestOf } from './delivery/interest.js';
import { EventOperations } from './event-operations.js';
import { recurrencesOf } from './schedules/recurrence.js';
import { RecurringWork } from './schedules/recurring-work.js';
import { ScheduleStore } from './schedules/schedule-store.js';
import { ScheduledActions } from './schedules/scheduled-actions.js';

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
  /** The logger of handlers. Default: their entries are discarded. */
  readonly log?: Logger;
}

/** Delivers committed events to handlers and runs scheduled actions, on all shards. */
export class EventDelivery extends EventOperations {
  readonly #consumers: readonly Consumer[];
  readonly #isConcerned: (groups: readonly WriteGroup[]) => boolean;
  /** @internal */
  readonly process: DeliveryProcess;

  /**
   * @throws ValidationError if two handlers have the same name, a name is invalid, upcasters are missing, or the options
   *   of a recurring action are invalid
   *
   * @internal
   */
  constructor(options: EventDeliveryOptions) {
    const { databases, handlers, sinks = [], executor, registry, random = Math.random } = options;
    const { log, limits = {}, warn = (message) => console.warn(message) } = options;
    checkHandlers(handlers);
    const ofHandlers = handlers.map((handler) => handlerConsumer(handler, executor, random, log));
    const consumers = [...ofHandlers, ...sinks];
    const versions = registry.paramsVersions();
    const recurrences = recurrencesOf(registry);
    const delivery = new DeliveryProcess({
      databases,
      consumers,
      ownWork: (database) =>
        new ScheduledActions({
          schedules: new ScheduleStore(database, versions),
          recurring: new RecurringWork(database, recurrences, database.shard === databases.defaultShard),
          ...{ executor, registry, warn, random },
        }),
      limits,
      warn,
    });
    super(databases, () => delivery.lookAround());
    this.#consumers = consumers;
    this.process = delivery;
    this.#isConcerned = interestOf(handlers, sinks.length > 0);
  }

  /**
   * Stores on a shard what the handlers and sinks select. A process of an earlier release then no longer passes over
   * events that only this one selects. `openApplication` puts no shard into service before. After
   * `assembleApplication`, call it for each database before the first action.
   *
   * @throws EventEpochError if a new handler starts from now, and the log belongs to another server
   */
  register(database: ShardDatabase): Promise<void> {
    return this.process.register(database);
  }

  /** See `DeliveryProcess.start`. @internal */
  start(): void {
    this.process.start();
  }

  /** See `DeliveryProcess.stop`. @internal */
  stop(graceMs?: number): Promise<void> {
    return this.process.stop(graceMs);
  }

  /**
   * Must be called after a commit of this process on this shard. Returns at once.
   *
   * @param groups the committed writes; writes without events for a handler wake none. Default: every handler is woken
   *
   * @internal
   */
  committed(shard: ShardIdentifier, groups?: readonly WriteGroup[]): void {
    if (groups === undefined || this.#isConcerned(groups)) this.process.committed(shard);
  }

  /** @throws ValidationError if it declares no projection @internal */
  protected override requireHandler(handler: string, isRebuilt: boolean): void {
    const found = this.#consumers.find(({ name }) => name === handler);
    if (found === undefined) throw new UnknownHandlerError(`There is no handler ${handler}`);
    if (isRebuilt && found.projection === undefined)
      throw new ValidationError(`Handler ${handler} declares no projection`);
  }
}
