import { DEFAULT_DELIVERY_LIMITS, type DeliveryLimits } from '../events/delivery/delivery-limits.js';
import { DeliveryProcess } from '../events/delivery/delivery-process.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { type RelayContext, sinkConsumers } from './sink-consumer.js';
import type { SinkDefinition } from './sink-definition.js';
import type { SinkStatistics } from './sink-statistics.js';

/** What a relay works with. */
export interface RelayOptions extends RelayContext {
  readonly databases: DatabaseRegistry;
  readonly sinks: readonly SinkDefinition[];
  /** `slowPollMs` has no effect: the relay always polls every `fastPollMs`. */
  readonly limits?: Partial<DeliveryLimits>;
}

/** Sends events to sinks from a process that does nothing else. In a server, `startServer({ relay })` does. */
export class Relay {
  readonly #delivery: DeliveryProcess;
  readonly #statistics: () => readonly SinkStatistics[];

  /** @throws ValidationError if two sinks have one name, a name does not fit, or upcasters are missing */
  constructor({ databases, sinks, limits = {}, ...context }: RelayOptions) {
    const { consumers, statistics } = sinkConsumers(sinks, context);
    const { warn } = context;
    this.#statistics = statistics;
    // A server notifies other processes only of events that it delivers itself, and it may deliver none.
    const { fastPollMs = DEFAULT_DELIVERY_LIMITS.fastPollMs } = limits;
    const polled = { ...limits, slowPollMs: fastPollMs };
    this.#delivery = new DeliveryProcess({ databases, consumers, limits: polled, warn });
  }

  /** Starts to send, beside other processes that do: each sink runs in one of them on each shard. */
  start(): void {
    this.#delivery.start();
  }

  /** What each sink has done on each shard in this process. Asks no database. */
  statistics(): readonly SinkStatistics[] {
    return this.#statistics();
  }

  /** Waits for batches under way (5,000 ms at most by default), saves checkpoints and gives leases back. */
  stop(graceMs?: number): Promise<void> {
    return this.#delivery.stop(graceMs);
  }
}
