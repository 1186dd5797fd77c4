import type { ShardIdentifier } from '../../domain/shard-identifier.js';

/** The journal of one shard, as this process has last seen it, and what this process has done about it. */
export interface JournalStatistics {
  readonly shard: ShardIdentifier;
  /** Entries that are to be finished. Those of executions under way do not count. */
  readonly open: number;
  /** Entries that cannot be finished and wait for people. */
  readonly flagged: number;
  /** Entries that this process has finished since it started. */
  readonly finished: number;
  /** Attempts of this process that have failed. */
  readonly failed: number;
}
