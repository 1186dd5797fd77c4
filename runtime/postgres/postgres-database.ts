import type { DataSourceConfig, PostgresUrl } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { AdapterOptions } from '../sharding/database-adapter.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { type ConnectionAges, PooledDatabase } from '../sharding/pooled-database.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { CONNECTION_CHECK, type ConnectionConfig, clientConfig, describeUrl } from './client-config.js';
import { poolerMode } from './pooler-mode.js';
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
    const opener = new Opener(url, dataSource);
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
      open: (onLost) => opener.open(onLost),
    });
    this.listen =
      pooler === undefined
        ? async (channel, listener) =>
            PostgresListener.open(await this.reserve(connectTimeoutMs), channel, listener)
        : undefined;
  }
}

/** Opens connections with the settings that the server's system supports. */
class Opener {
  readonly #url: PostgresUrl;
  readonly #dataSource: DataSourceConfig;
  #checksConnection = true;
  #config: ConnectionConfig;

  constructor(url: PostgresUrl, dataSource: DataSourceConfig) {
    this.#url = url;
    this.#dataSource = dataSource;
    this.#config = clientConfig(url, dataSource);
  }

  async open(onLost: (connection: PostgresConnection) => void): Promise<PostgresConnection> {
    try {
      return await this.#open(onLost);
    } catch (error) {
      if (!this.#checksConnection || !isAboutCheck(error)) throw error;
      this.#checksConnection = false;
      this.#config = clientConfig(this.#url, this.#dataSource, false);
      return this.#open(onLost);
    }
  }

  #open(onLost: (connection: PostgresConnection) => void): Promise<PostgresConnection> {
    const { connectTimeoutMs, statementTimeoutMs } = this.#dataSource;
    return PostgresConnection.open({
      config: this.#config,
      pooler: poolerMode(this.#url, this.#dataSource),
      connectTimeoutMs,
      statementTimeoutMs,
      description: describeUrl(this.#url),
      onLost,
    });
  }
}

/** Some systems do not support the setting and refuse the connection. */
function isAboutCheck(error: unknown): boolean {
  return (
    error instanceof DriverFailure && error.sqlState !== undefined && error.message.includes(CONNECTION_CHECK)
  );
}
