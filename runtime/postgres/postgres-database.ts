import type { DataSourceConfig, PostgresUrl } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ConnectionBudget } from '../sharding/connection-budget.js';
import { PooledDatabase } from '../sharding/pooled-database.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { describeUrl, linkConfig } from './client-config.js';
import { poolerMode } from './pooler-mode.js';
import { PostgresConnection } from './postgres-connection.js';
import { PostgresListener } from './postgres-listener.js';

/** A shard on a PostgreSQL server, through node-postgres. Connections are opened when they are first needed. */
export class PostgresDatabase extends PooledDatabase<PostgresConnection> {
  readonly listen: ShardDatabase['listen'];

  /** @throws ValidationError without a user name */
  constructor(
    shard: ShardIdentifier,
    url: PostgresUrl,
    dataSource: DataSourceConfig,
    budget?: ConnectionBudget,
  ) {
    const description = describeUrl(url);
    const link = linkConfig(url, dataSource);
    const pooler = poolerMode(url, dataSource);
    const { connectTimeoutMs } = dataSource;
    super({
      shard,
      kind: 'postgresql',
      description,
      limits: dataSource,
      connectionWaitMs: connectTimeoutMs,
      sessionState: pooler === undefined,
      budget,
      open: (onLost) => PostgresConnection.open({ link, pooler, connectTimeoutMs, description, onLost }),
    });
    this.listen =
      pooler === undefined
        ? async (channel, listener) => {
            const options = { link, connectTimeoutMs, description };
            const subscription = await PostgresListener.open(options, listener);
            await subscription.listen(channel);
            return subscription;
          }
        : undefined;
  }
}
