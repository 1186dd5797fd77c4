import { DEFAULT_DELIVERY_LIMITS, type DeliveryLimits } from '../events/delivery/delivery-limits.js';
import { DeliveryProcess } from '../events/delivery/delivery-process.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { sinkConsumers } from './sink-consumer.js';
import type { RelayContext, SinkDefinition, SinkStatistics } from './sink-definition.js';

/** Options of a relay. */
export interface RelayOptions extends RelayContext {
  readonly databases: DatabaseRegistry;
  readonly sinks: readonly SinkDefinition[];
  /** `slowPollMs` has no effect: the relay always polls every `fastPollMs`. */
  readonly limits?: Partial<DeliveryLimits>;
}

/** Sends events to sinks from a separate process. In a server, `startServer({ relay })` does. */
export class Relay {
  readonly #delivery: DeliveryProcess;
  readonly #statistics: () => readonly SinkStatistics[];

  /** @throws ValidationError if two sinks have the same name, a name is invalid, or upcasters are missing */
  constructor({ databases, sinks, limits = {}, ...context }: RelayOptions) {
    const { consumers, statistics } = sinkConsumers(sinks, context);
    const { warn } = context;
    this.#statistics = statistics;
    // A server notifies other processes only about events that it delivers itself, so the relay polls.
    const { fastPollMs = DEFAULT_DELIVERY_LIMITS.fastPollMs } = limits;
    const polled = { ...limits, slowPollMs: fastPollMs };
    this.#delivery = new DeliveryProcess({ databases, consumers, limits: polled, warn });
  }

  /** Starts to send, in parallel with other processes: on each shard, each sink runs in one of them. */
  start(): void {
    this.#delivery.start();
  }

  /** Counters of each sink on each shard in this process. Sends no query. */
  statistics(): readonly SinkStatistics[] {
    return this.#statistics();
  }

  /** Waits for batches in flight (5,000 ms at most by default), saves checkpoints and releases leases. */
  stop(graceMs?: number): Promise<void> {
    return this.#delivery.stop(graceMs);
  }
}
