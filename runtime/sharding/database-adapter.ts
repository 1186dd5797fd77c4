import type { DatabaseUrl, DataSourceConfig } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ConnectionBudget } from './connection-budget.js';
import type { ShardDatabase } from './shard-database.js';

export interface AdapterOptions {
  /** Called with messages for operators. */
  readonly warn: (message: string) => void;
  /** The connection limit that all databases share. Default: none. */
  readonly budget?: ConnectionBudget | undefined;
  /**
   * Must be called when statements may from now on reach another server: a connection was opened or lost, or the last one was
   * closed.
   */
  readonly serverInDoubt?: (() => void) | undefined;
}

/** Opens the databases of one kind of URL. */
export interface DatabaseAdapter {
  readonly kind: DatabaseUrl['kind'];
  /** Must not connect yet: a database connects when it is first used. */
  open(shard: ShardIdentifier, dataSource: DataSourceConfig, options: AdapterOptions): ShardDatabase;
}
