import type { ReplicaRead } from '../../sharding/replica-reads.js';

/** How a query may be answered. */
export interface QueryOptions {
  /** Most time for each query, in milliseconds. Default: the data source's statement time-out; for lists 1,800. */
  readonly timeoutMs?: number | undefined;
  /** Lets replicas answer. Default: the primary answers. Inside `perform` it always does. */
  readonly replica?: ReplicaRead | undefined;
}
