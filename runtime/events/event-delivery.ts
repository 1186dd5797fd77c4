import { randomUUID } from 'node:crypto';
import type { ActionRegistry } from '../action/action-registry.js';
import { ShardedId } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { UnknownHandlerError, ValidationError } from '../errors.js';
import type { ActionExecutor } from '../execution/action-executor.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { DeadLetters } from './dead-letters.js';
import { EventTypes } from './event-types.js';
import type { HandlerDescriptor } from './handler-descriptor.js';
import { readLag, type ShardLag } from './lag.js';
import { type Rebased, rebase } from './rebase.js';
import { orderReplay, type ReplayFrom, type ReplayOptions } from './replays.js';
import { type RetentionOptions, type RetentionReport, readCompleteFrom, retain } from './retention.js';
import { Schedules } from './schedules.js';
import { DEFAULT_DELIVERY_LIMITS, type DeliveryLimits, ShardDelivery } from './shard-delivery.js';
import { WakeUp } from './wake-up.js';

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

/** A replay that was ordered. */
export interface OrderedReplay {
  readonly shard: ShardIdentifier;
  /** Name of its consumer in `lag()`, while it runs. */
  readonly name: string;
}

/** Most time for handlers at work when delivery stops, in milliseconds. */
const STOP_GRACE_MS = 5_000;
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
  readonly #shards = new Map<ShardIdentifier, ShardDelivery>();
  readonly #tellers = new Map<ShardIdentifier, WakeUp>();

  /** @throws ValidationError if two handlers have one name, a name does not fit, or upcasters are missing */
  constructor(options: EventDeliveryOptions) {
    checkHandlers(options.handlers);
    this.#options = options;
    this.#limits = { ...DEFAULT_DELIVERY_LIMITS, ...options.limits };
    this.#warn = options.warn ?? ((message) => console.warn(message));
    const databases = (shard: ShardIdentifier | undefined): readonly ShardDatabase[] =>
      this.#databases(shard);
    this.deadLetters = new DeadLetters(databases, () => this.#wakeAll());
    this.schedules = new Schedules(databases, () => this.#wakeAll());
  }

  /** Starts to deliver in this process, beside other processes that do. A second call has no effect. */
  start(): void {
    const { databases, handlers, executor, registry, random = Math.random } = this.#options;
    if (this.#shards.size > 0) return;
    const process = randomUUID();
    for (const shard of databases.shards()) {
      const database = databases.database(shard);
      const common = { handlers, executor, registry, random, limits: this.#limits, warn: this.#warn };
      this.#shards.set(shard, new ShardDelivery({ ...common, database, process }));
    }
  }

  /** Waits for handlers at work (5,000 ms at most by default), saves checkpoints and gives leases back. */
  async stop(graceMs: number = STOP_GRACE_MS): Promise<void> {
    const shards = [...this.#shards.values()];
    await Promise.all(shards.map((shard) => shard.stop(graceMs)));
    this.#shards.clear();
    await Promise.all([...this.#tellers.values()].map((teller) => teller.stop()));
  }

  /** To be called after a commit of this process on this shard. Returns at once. */
  committed(shard: ShardIdentifier): void {
    const delivery = this.#shards.get(shard);
    if (delivery !== undefined) delivery.committed();
    else if (this.#options.handlers.length > 0) this.#teller(shard).tellOthers();
  }

  /** How far each handler has come on each shard, and what holds delivery up. */
  lag(): Promise<readonly ShardLag[]> {
    return Promise.all(this.#databases(undefined).map((database) => readLag(database)));
  }

  /**
   * Has one handler handle events again that it has handled before, beside its live delivery: from a time or a position
   * on, or all those of one model. Runs in whatever process has the handler.
   *
   * @param shard this one alone; needed for a position. Default: all, or the model's own
   * @returns one replay for each shard that has anything to replay
   * @throws UnknownHandlerError if the application has no such handler
   */
  async replay(
    handler: string,
    from: ReplayFrom,
    options: ReplayOptions & { readonly shard?: ShardIdentifier } = {},
  ): Promise<readonly OrderedReplay[]> {
    this.#requireHandler(handler);
    const shards = this.#databases(options.shard ?? shardOf(from));
    if ('position' in from && shards.length > 1) {
      throw new ValidationError('A position belongs to one shard: name it', { field: 'shard' });
    }
    const replays = await Promise.all(
      shards.map(async (database) => {
        const name = await orderReplay(database, handler, from, options);
        return name === undefined ? [] : [{ shard: database.shard, name }];
      }),
    );
    for (const delivery of this.#shards.values()) delivery.lookAround();
    return replays.flat();
  }

  /**
   * Makes delivery go on after shards were restored on, or moved to, another server (EventEpochError). Make sure first
   * that nobody writes to the old one any more. Needs the rights of the outbox's owner.
   */
  async rebase(shard?: ShardIdentifier): Promise<readonly Rebased[]> {
    const results: Rebased[] = [];
    for (const database of this.#databases(shard)) results.push(await rebase(database));
    return results;
  }

  /**
   * Makes partitions of outbox and audit trail ahead, and drops those that nobody needs any more. Nothing does so by
   * itself: call it daily. Needs the rights of the tables' owner.
   *
   * @throws ValidationError for options that make no sense
   */
  async retain(options: RetentionOptions): Promise<readonly RetentionReport[]> {
    const reports: RetentionReport[] = [];
    for (const database of this.#databases(undefined))
      reports.push(await retain(database, options, new Date()));
    return reports;
  }

  /** From when on the event history of a shard is complete; undefined: from the beginning. */
  completeFrom(shard: ShardIdentifier): Promise<Date | undefined> {
    return readCompleteFrom(this.#options.databases.database(shard));
  }

  #requireHandler(name: string): void {
    if (this.#options.handlers.some((handler) => handler.name === name)) return;
    throw new UnknownHandlerError(`There is no handler ${name}`);
  }

  #databases(shard: ShardIdentifier | undefined): readonly ShardDatabase[] {
    const { databases } = this.#options;
    const shards = shard === undefined ? databases.shards() : [shard];
    return shards.map((each) => databases.database(each));
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

function shardOf(from: ReplayFrom): ShardIdentifier | undefined {
  if (!('model' in from)) return undefined;
  const { model } = from;
  return model instanceof ShardedId ? model.resolveShardIdentifier() : undefined;
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
