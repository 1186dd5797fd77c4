import { randomUUID } from 'node:crypto';
import type { ActionRegistry } from '../../action/action-registry.js';
import { atMost } from '../../concurrency/at-most.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { UnknownHandlerError, ValidationError } from '../../errors.js';
import type { ActionExecutor } from '../../execution/action-executor.js';
import type { WriteGroup } from '../../persistence/shard-store.js';
import type { RetentionOptions, RetentionReport } from '../../retention/retain.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { TopologyChange } from '../../sharding/topology-changes.js';
import type { DeadLetters } from '../dead-letters/dead-letters.js';
import type { ReplayFrom, ReplayOptions } from '../dead-letters/replays.js';
import { EventOperations, type FailoverReport, type OrderedReplay } from '../event-operations.js';
import { EventTypes } from '../log/event-types.js';
import { Interest } from '../log/interest.js';
import type { ShardLag } from '../log/lag.js';
import type { Rebased } from '../log/rebase.js';
import { WakeUp } from '../log/wake-up.js';
import type { Schedules } from '../schedules/schedules.js';
import type { HandlerDescriptor } from './handler-descriptor.js';
import { DEFAULT_DELIVERY_LIMITS, type DeliveryLimits, ShardDelivery } from './shard-delivery.js';

export interface EventDeliveryOptions {
  readonly databases: DatabaseRegistry;
  readonly handlers: readonly HandlerDescriptor[];
  readonly executor: ActionExecutor;
  readonly registry: ActionRegistry;
  readonly limits?: Partial<DeliveryLimits>;
  /** From 0 to 1, for the jitter of pauses. Default: the machine's. */
  readonly random?: () => number;
  /** Told what operators should know. Default: standard error. */
  readonly warn?: (message: string) => void;
}

/** Most time for handlers at work when delivery stops, in milliseconds. */
const STOP_GRACE_MS = 5_000;
/** Most time for what delivery itself still has to write then, in milliseconds. */
const FINISH_MS = 500;
const NAME = /^[\x21-\x22\x24-\x7e]{1,100}$/;

/** Delivers committed events to handlers and runs scheduled actions, on all shards. */
export class EventDelivery {
  /** Events that handlers could not take. */
  readonly deadLetters: DeadLetters;
  /** Scheduled actions. */
  readonly schedules: Schedules;
  readonly #options: EventDeliveryOptions;
  readonly #limits: DeliveryLimits;
  readonly #warn: (message: string) => void;
  readonly #operations: EventOperations;
  readonly #interest: Interest;
  readonly #shards = new Map<ShardIdentifier, ShardDelivery>();
  readonly #tellers = new Map<ShardIdentifier, WakeUp>();
  /** Identity among all processes while delivery runs. */
  #process: string | undefined;

  /** @throws ValidationError if two handlers have one name, a name does not fit, or upcasters are missing */
  constructor(options: EventDeliveryOptions) {
    checkHandlers(options.handlers);
    this.#options = options;
    this.#interest = new Interest(options.handlers);
    this.#limits = { ...DEFAULT_DELIVERY_LIMITS, ...options.limits };
    this.#warn = options.warn ?? ((message) => console.warn(message));
    this.#operations = new EventOperations(options.databases, () => this.#wakeAll());
    this.deadLetters = this.#operations.deadLetters;
    this.schedules = this.#operations.schedules;
    options.databases.onService((shard, reason) => {
      if (reason === undefined && this.#process !== undefined) this.#deliverOn(shard, this.#process);
    });
  }

  /** Starts to deliver in this process, beside other processes that do. A second call has no effect. */
  start(): void {
    if (this.#process !== undefined) return;
    this.#process = randomUUID();
    for (const shard of this.#options.databases.shards()) this.#deliverOn(shard, this.#process);
  }

  /**
   * Waits for handlers at work (5,000 ms at most by default), saves checkpoints and gives leases back. A database that
   * does not answer is not waited for: leases run out by themselves.
   */
  async stop(graceMs: number = STOP_GRACE_MS): Promise<void> {
    this.#process = undefined;
    const shards = [...this.#shards.values()];
    this.#shards.clear();
    const tellers = [...this.#tellers.values()];
    this.#tellers.clear();
    const stopped = [
      ...shards.map((shard) => shard.stop(graceMs)),
      ...tellers.map((teller) => teller.stop()),
    ];
    await atMost(Promise.all(stopped), graceMs + FINISH_MS);
  }

  /**
   * To be called after the databases have gone over to another topology: delivery begins on shards that are new, ends
   * on those that are gone, and listens anew where the connections are others.
   */
  async topologyChanged(changes: readonly TopologyChange[]): Promise<void> {
    await Promise.all(
      changes.map(async (change) => {
        if (change.kind === 'shard-added' && this.#process !== undefined)
          this.#deliverOn(change.shard, this.#process);
        else if (change.kind === 'shard-removed') await this.#leave(change.shard);
        else if (change.kind === 'server' || change.kind === 'pool')
          await this.#shards.get(change.shard)?.databaseReplaced();
      }),
    );
  }

  /**
   * To be called after a commit of this process on this shard. Returns at once.
   *
   * @param groups what was sent; what concerns no handler wakes nobody. Default: it may be anything
   */
  committed(shard: ShardIdentifier, groups?: readonly WriteGroup[]): void {
    if (groups !== undefined && !this.#interest.concerns(groups)) return;
    const delivery = this.#shards.get(shard);
    if (delivery !== undefined) delivery.committed();
    else if (this.#options.handlers.length > 0 && this.#options.databases.has(shard))
      this.#teller(shard).tellOthers();
  }

  /**
   * How far each handler has come on each shard, and what holds delivery up.
   *
   * @param shard this one alone. Default: all
   */
  lag(shard?: ShardIdentifier): Promise<readonly ShardLag[]> {
    return this.#operations.lag(shard);
  }

  /**
   * Failovers of one shard that nobody has acknowledged, with what they have left behind on other shards. What was lost
   * is gone: this is what can be known about it.
   */
  failovers(shard: ShardIdentifier): Promise<readonly FailoverReport[]> {
    return this.#operations.failovers(shard);
  }

  /** Somebody has looked after the failovers of a shard. @returns how many there were */
  acknowledgeFailovers(shard: ShardIdentifier): Promise<number> {
    return this.#operations.acknowledgeFailovers(shard);
  }

  /**
   * Has one handler handle events again that it has handled before, beside its live delivery: from a time or a position
   * on, or all those of one model. Runs in whatever process has the handler.
   *
   * @param shard this one alone; needed for a position. Default: all, or the model's own
   * @returns one replay for each shard that has anything to replay
   * @throws UnknownHandlerError if the application has no such handler, or it has never run
   */
  async replay(
    handler: string,
    from: ReplayFrom,
    options: ReplayOptions & { readonly shard?: ShardIdentifier } = {},
  ): Promise<readonly OrderedReplay[]> {
    this.#requireHandler(handler);
    const replays = await this.#operations.replay(handler, from, options);
    for (const delivery of this.#shards.values()) delivery.lookAround();
    return replays;
  }

  /**
   * Makes delivery go on after shards were restored on, or moved to, another server (EventEpochError). Make sure first
   * that nobody writes to the old one any more. Needs the rights of the outbox's owner.
   */
  rebase(shard?: ShardIdentifier): Promise<readonly Rebased[]> {
    return this.#operations.rebase(shard);
  }

  /** See `EventOperations.retain`. @throws ValidationError for options that make no sense */
  retain(
    options: RetentionOptions & { readonly shard?: ShardIdentifier },
  ): Promise<readonly RetentionReport[]> {
    return this.#operations.retain(options);
  }

  /** From when on the event history of a shard is complete; undefined: from the beginning. */
  completeFrom(shard: ShardIdentifier): Promise<Date | undefined> {
    return this.#operations.completeFrom(shard);
  }

  #deliverOn(shard: ShardIdentifier, process: string): void {
    if (this.#shards.has(shard) || this.#options.databases.withheld(shard) !== undefined) return;
    const { databases, handlers, executor, registry, random = Math.random } = this.#options;
    const common = { handlers, executor, registry, random, limits: this.#limits, warn: this.#warn };
    this.#shards.set(shard, new ShardDelivery({ ...common, database: databases.database(shard), process }));
  }

  async #leave(shard: ShardIdentifier): Promise<void> {
    const [delivery, teller] = [this.#shards.get(shard), this.#tellers.get(shard)];
    this.#shards.delete(shard);
    this.#tellers.delete(shard);
    await Promise.all([delivery?.stop(0), teller?.stop()]);
  }

  #requireHandler(name: string): void {
    if (this.#options.handlers.some((handler) => handler.name === name)) return;
    throw new UnknownHandlerError(`There is no handler ${name}`);
  }

  #wakeAll(): void {
    for (const delivery of this.#shards.values()) delivery.wake();
  }

  /** For a process that commits and does not deliver. */
  #teller(shard: ShardIdentifier): WakeUp {
    let teller = this.#tellers.get(shard);
    if (teller === undefined) {
      const ties = { wake: () => {}, isNeeded: () => false, warn: this.#warn };
      teller = new WakeUp(this.#options.databases.database(shard), this.#limits, ties);
      teller.othersAreThere(true);
      this.#tellers.set(shard, teller);
    }
    return teller;
  }
}

function checkHandlers(handlers: readonly HandlerDescriptor[]): void {
  const names = new Set<string>();
  for (const { name, aliases = [], events } of handlers) {
    for (const each of [name, ...aliases]) {
      if (!NAME.test(each)) {
        throw new ValidationError(
          `A handler's name has 1 to 100 visible ASCII characters and no #, got ${JSON.stringify(each)}`,
        );
      }
      if (names.has(each)) throw new ValidationError(`Two handlers are named ${each}`);
      names.add(each);
    }
    if (events.length === 0) throw new ValidationError(`Handler ${name} handles no event`);
    new EventTypes(events);
  }
}
