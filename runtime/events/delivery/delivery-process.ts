import { randomUUID } from 'node:crypto';
import { atMost } from '../../concurrency/at-most.js';
import { Durations } from '../../concurrency/durations.js';
import { outside } from '../../concurrency/outside.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import type { TopologyChange } from '../../sharding/topology-changes.js';
import { WakeUp } from '../log/wake-up.js';
import type { Consumer } from './consumer.js';
import { DEFAULT_DELIVERY_LIMITS, type DeliveryLimits } from './delivery-limits.js';
import { registerConsumers } from './register-consumers.js';
import { type OwnWork, ShardDelivery } from './shard-delivery.js';

export interface DeliveryProcessOptions {
  readonly databases: DatabaseRegistry;
  readonly consumers: readonly Consumer[];
  /** Scheduled actions. Undefined: other processes run them. */
  readonly ownWork?: (database: ShardDatabase) => OwnWork;
  readonly limits?: Partial<DeliveryLimits>;
  /** Receives messages for operators. */
  readonly warn: (message: string) => void;
}

/** Maximum time for consumers to finish their work when delivery stops, in milliseconds. */
const STOP_GRACE_MS = 5_000;
/** Maximum time for delivery's own last statements after that, in milliseconds. */
const FINISH_MS = 500;

/** Runs consumers on every shard that this process has, and follows changes of the topology. */
export class DeliveryProcess {
  /** The ages at which events were handled in this process, by consumer, without replays. */
  readonly ages: ReadonlyMap<string, Durations>;
  readonly #options: DeliveryProcessOptions;
  readonly #limits: DeliveryLimits;
  readonly #shards = new Map<ShardIdentifier, ShardDelivery>();
  readonly #wakeUps = new Map<ShardIdentifier, WakeUp>();
  /** Shards whose server may lack what this process has registered, as after a failover: the next commit registers. */
  readonly #doubted = new Set<ShardIdentifier>();
  /** Identifies this process among all processes while delivery runs. */
  #process: string | undefined;

  constructor(options: DeliveryProcessOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_DELIVERY_LIMITS, ...options.limits };
    this.ages = new Map(options.consumers.map(({ name }) => [name, new Durations()]));
    options.databases.onService((shard, reason) => {
      if (reason === undefined && this.#process !== undefined) this.#deliverOn(shard, this.#process);
    });
    if (options.consumers.length > 0) options.databases.onServerInDoubt((shard) => this.#doubted.add(shard));
  }

  /** Stores on a shard what the consumers select. Must be called before this process writes there. */
  register(database: ShardDatabase): Promise<void> {
    return registerConsumers(database, this.#options.consumers);
  }

  /** Starts delivery in this process, in parallel with other processes. A second call has no effect. */
  start(): void {
    if (this.#process !== undefined) return;
    this.#process = randomUUID();
    for (const shard of this.#options.databases.shards()) this.#deliverOn(shard, this.#process);
  }

  /**
   * Waits for consumers to finish (5,000 ms at most by default), saves checkpoints and releases leases. Does not wait
   * for a database that does not answer, whose leases expire by themselves.
   */
  async stop(graceMs: number = STOP_GRACE_MS): Promise<void> {
    this.#process = undefined;
    const shards = [...this.#shards.values()];
    this.#shards.clear();
    const wakeUps = [...this.#wakeUps.values()];
    this.#wakeUps.clear();
    const stopped = [
      ...shards.map((shard) => shard.stop(graceMs)),
      ...wakeUps.map((wakeUp) => wakeUp.stop()),
    ];
    await atMost(Promise.all(stopped), graceMs + FINISH_MS);
    await atMost(Promise.all(this.#options.consumers.map(({ close }) => close?.())), FINISH_MS);
  }

  /** Starts delivery on new shards, stops it on removed ones, and listens again where connections were replaced. */
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

  /** Reports a commit of this process on this shard. Returns at once. */
  committed(shard: ShardIdentifier): void {
    const { databases, consumers } = this.#options;
    if (this.#doubted.delete(shard))
      outside(() => this.register(databases.database(shard))).catch(() => this.#doubted.add(shard));
    const delivery = this.#shards.get(shard);
    if (delivery !== undefined) delivery.committed();
    else if (consumers.length > 0 && databases.has(shard)) this.#wakeUp(shard).notifyOthers();
  }

  /** Looks for events and free leases at once. */
  lookAround(): void {
    for (const delivery of this.#shards.values()) delivery.lookAround();
  }

  #deliverOn(shard: ShardIdentifier, process: string): void {
    if (this.#shards.has(shard) || this.#options.databases.withheld(shard) !== undefined) return;
    const { databases, consumers, ownWork, warn } = this.#options;
    const database = databases.database(shard);
    const common = { consumers, warn, limits: this.#limits, database, process, ages: this.ages };
    this.#shards.set(shard, new ShardDelivery({ ...common, ownWork: ownWork?.(database) }));
  }

  async #leave(shard: ShardIdentifier): Promise<void> {
    const [delivery, wakeUp] = [this.#shards.get(shard), this.#wakeUps.get(shard)];
    this.#shards.delete(shard);
    this.#wakeUps.delete(shard);
    await Promise.all([delivery?.stop(0), wakeUp?.stop()]);
    await atMost(Promise.all(this.#options.consumers.map(({ left }) => left?.(shard))), FINISH_MS);
  }

  /** The wake-up of a shard, for a process that commits and does not deliver. */
  #wakeUp(shard: ShardIdentifier): WakeUp {
    let wakeUp = this.#wakeUps.get(shard);
    if (wakeUp === undefined) {
      const dependencies = { wake: () => {}, isNeeded: () => false, warn: this.#options.warn };
      wakeUp = new WakeUp(this.#options.databases.database(shard), this.#limits, dependencies);
      wakeUp.othersAreThere(true);
      this.#wakeUps.set(shard, wakeUp);
    }
    return wakeUp;
  }
}
