import type { ReplicaRead } from '../../sharding/replica-reads.js';

/** Time limit and source of a query. */
export interface QueryOptions {
  /** Time limit of each query, in milliseconds. Default: the data source's statement time-out; for lists 1,800. */
  readonly timeoutMs?: number | undefined;
  /** Allows a replica to answer. Default: the primary answers. Inside `perform` the primary always answers. */
  readonly replica?: ReplicaRead | undefined;
}
