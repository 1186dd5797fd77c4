import type { DataSourceConfig, PostgresUrl } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { PooledDatabase } from '../sharding/pooled-database.js';
import { describeUrl, linkConfig } from './client-config.js';
import { PostgresConnection } from './postgres-connection.js';

/** A shard on a PostgreSQL server, through node-postgres. Connections are opened when they are first needed. */
export class PostgresDatabase extends PooledDatabase<PostgresConnection> {
  /** @throws ValidationError without a user name */
  constructor(shard: ShardIdentifier, url: PostgresUrl, dataSource: DataSourceConfig) {
    const description = describeUrl(url);
    const link = linkConfig(url, dataSource);
    const { connectTimeoutMs } = dataSource;
    super({
      shard,
      kind: 'postgresql',
      description,
      limits: dataSource,
      open: (onLost) => PostgresConnection.open({ link, connectTimeoutMs, description, onLost }),
    });
  }
}
