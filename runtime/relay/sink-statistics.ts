import type { ShardIdentifier } from '../domain/shard-identifier.js';

/** What one sink has done on one shard since this process began. */
export interface SinkStatistics {
  readonly sink: string;
  readonly shard: ShardIdentifier;
  /** Messages that the receiver has taken, repetitions included. */
  readonly accepted: number;
  /** Batches that are sent again, all or in part. */
  readonly deferred: number;
  /** Messages that the receiver has rejected. */
  readonly rejected: number;
  /** False while the receiver takes no messages. */
  readonly takes: boolean;
}
