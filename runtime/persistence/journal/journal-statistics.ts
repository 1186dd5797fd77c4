import type { ShardIdentifier } from '../../domain/shard-identifier.js';

/** The last known state of one shard's journal, and counts of what this process has done to it. */
export interface JournalStatistics {
  readonly shard: ShardIdentifier;
  /** Entries that recovery must finish. Entries of executions in progress do not count. */
  readonly open: number;
  /** Entries that recovery cannot finish and that wait for an operator. */
  readonly flagged: number;
  /** Entries that this process has finished since it started. */
  readonly finished: number;
  /** Failed attempts of this process. */
  readonly failed: number;
}
