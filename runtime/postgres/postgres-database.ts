import type { DataSourceConfig, PostgresUrl } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { AdapterOptions } from '../sharding/database-adapter.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { ConnectionAges } from '../sharding/pooled-connection.js';
import { PooledDatabase } from '../sharding/pooled-database.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { CONNECTION_CHECK, clientConfig, describeUrl } from './client-config.js';
import { type PoolerMode, poolerMode } from './pooler-mode.js';
import { PostgresConnection } from './postgres-connection.js';
import { PostgresListener } from './postgres-listener.js';

/** A shard on a PostgreSQL server, through node-postgres. Connections are opened on demand. */
export class PostgresDatabase extends PooledDatabase<PostgresConnection> {
  readonly listen: ShardDatabase['listen'];

  /** @throws ValidationError without a user name */
  constructor(
    shard: ShardIdentifier,
    url: PostgresUrl,
    dataSource: DataSourceConfig & ConnectionAges,
    { budget, serverInDoubt }: Pick<AdapterOptions, 'budget' | 'serverInDoubt'> = {},
  ) {
    const description = describeUrl(url);
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
      serverInDoubt,
      open: openerOf(url, dataSource, pooler),
    });
    this.listen =
      pooler === undefined
        ? async (channel, listener) =>
            PostgresListener.open(await this.reserve(connectTimeoutMs), channel, listener)
        : undefined;
  }
}

type Opener = (onLost: (connection: PostgresConnection) => void) => Promise<PostgresConnection>;

/** Opens connections with the settings that the server's system supports. @throws ValidationError without a user name */
function openerOf(url: PostgresUrl, dataSource: DataSourceConfig, pooler: PoolerMode | undefined): Opener {
  const { connectTimeoutMs, statementTimeoutMs } = dataSource;
  const limits = { pooler, connectTimeoutMs, statementTimeoutMs, description: describeUrl(url) };
  let config = clientConfig(url, dataSource);
  let checksConnection = true;
  const open: Opener = (onLost) => PostgresConnection.open({ ...limits, config, onLost });
  return async (onLost) => {
    try {
      return await open(onLost);
    } catch (error) {
      if (!checksConnection || !isAboutCheck(error)) throw error;
      checksConnection = false;
      config = clientConfig(url, dataSource, false);
      return open(onLost);
    }
  };
}

/** Some systems do not support the setting and refuse the connection. */
function isAboutCheck(error: unknown): boolean {
  return (
    error instanceof DriverFailure && error.sqlState !== undefined && error.message.includes(CONNECTION_CHECK)
  );
}
