import type { ShardIdentifier } from '../domain/shard-identifier.js';

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
