import type { SinkConfig } from '../config/types.js';
import type { EventDescriptor } from '../domain/descriptor.js';
import type { Logger } from '../domain/logger.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { RelaySink } from './relay-sink.js';

/** Settings of a sink besides its receiver: those of the configuration, and limits. */
export interface SinkSettings extends Omit<SinkConfig, 'name' | 'webhook' | 'nats' | 'kafka'> {
  /** Maximum messages per batch. Default 500. */
  readonly batchSize: number;
  /** Maximum batches in flight, on each shard. Default 2. */
  readonly inFlight: number;
  /** A batch without an answer in this time is sent again, in milliseconds. Default 10,000. */
  readonly timeoutMs: number;
  /** Attempts at a message that the receiver rejects, including the first. Default 5. */
  readonly maximumAttempts: number;
  /** Maximum first pause between attempts, in milliseconds; doubled up to 30,000. Default 200. */
  readonly retryDelayMs: number;
}

/** A sink of the relay. */
export interface SinkDefinition extends Partial<SinkSettings> {
  /** Identifies the checkpoints, one per shard: after a change, add the former one to `aliases`. 1 to 64 letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** Creates the sink of one shard. It connects at the first message. The logger adds sink and shard to each entry. */
  readonly open: (shard: ShardIdentifier, log: Logger) => RelaySink;
}

/** Counters of one sink on one shard since this process started. */
export interface SinkStatistics {
  readonly sink: string;
  readonly shard: ShardIdentifier;
  /** Messages that the receiver has accepted, including repetitions. */
  readonly accepted: number;
  /** Batches that are sent again, completely or partly. */
  readonly deferred: number;
  /** Messages that the receiver has rejected. */
  readonly rejected: number;
  /** False while the receiver accepts no messages. */
  readonly accepting: boolean;
}

/** Dependencies that all sinks of a process share. */
export interface RelayContext {
  /** Event classes of the application. Undefined: unknown to this process. */
  readonly events?: readonly EventDescriptor[] | undefined;
  readonly schemaBaseUrl?: string | undefined;
  /** Default: the machine's. */
  readonly random?: () => number;
  readonly warn: (message: string) => void;
  /** The logger of sinks. Default: their entries are discarded. */
  readonly log?: Logger | undefined;
}

export const DEFAULT_SINK_SETTINGS: SinkSettings = Object.freeze({
  aliases: [],
  format: 'structured',
  models: [],
  events: [],
  startFrom: 'beginning',
  batchSize: 500,
  inFlight: 2,
  timeoutMs: 10_000,
  maximumAttempts: 5,
  retryDelayMs: 200,
});
