import type { DataSourceConfig, PostgresUrl } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { PooledDatabase } from '../sharding/pooled-database.js';
import type { NotificationListener, NotificationSubscription } from '../sharding/shard-database.js';
import { describeUrl, linkConfig } from './client-config.js';
import { PostgresConnection } from './postgres-connection.js';
import { PostgresListener } from './postgres-listener.js';

/** A shard on a PostgreSQL server, through node-postgres. Connections are opened when they are first needed. */
export class PostgresDatabase extends PooledDatabase<PostgresConnection> {
  readonly #openListener: (listener: NotificationListener) => ReturnType<typeof PostgresListener.open>;

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
      connectionWaitMs: connectTimeoutMs,
      open: (onLost) => PostgresConnection.open({ link, connectTimeoutMs, description, onLost }),
    });
    this.#openListener = (listener) => PostgresListener.open({ link, connectTimeoutMs, description }, listener);
  }

  async listen(channel: string, listener: NotificationListener): Promise<NotificationSubscription> {
    const subscription = await this.#openListener(listener);
    await subscription.listen(channel);
    return subscription;
  }
}
