import type { DataSourceConfig, MemberConfig, ShardingTopology } from '../../runtime/config/types.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import type { ServerAddress } from './server.js';

/** The URL of one database of a test server. */
export function serverUrl(server: ServerAddress, database: string): DataSourceConfig['url'] {
  const { host, port } = server;
  return { kind: 'postgresql', host, port, database, sslMode: 'disable', sslRootCert: undefined };
}

/** A data source with the defaults of the configuration. */
export function testDataSource(
  url: DataSourceConfig['url'],
  user: { readonly user: string; readonly password: string } | undefined,
  overrides: Partial<DataSourceConfig> = {},
): DataSourceConfig {
  return {
    url,
    username: user?.user,
    password: user === undefined ? undefined : { reveal: () => user.password },
    maximumPoolSize: 10,
    connectTimeoutMs: 2_000,
    lockTimeoutMs: 400,
    statementTimeoutMs: 10_000,
    applicationName: 'fw-actions-test',
    allowUnsafe: [],
    pooler: 'none',
    ...overrides,
  };
}

/** A topology of these data sources; the first shard is the default one. */
export function topologyOf(
  sources: readonly (readonly [ShardIdentifier, DataSourceConfig])[],
): ShardingTopology {
  const defaultShard = sources[0]?.[0] ?? ShardIdentifier.of(0, 0);
  const groups = [...new Set(sources.map(([shard]) => shard.group))];
  return {
    defaultShard,
    groups: groups.map((group) => ({
      group,
      name: `group-${group}`,
      members: sources
        .filter(([shard]) => shard.group === group)
        .map(([shard, primary]) => member(shard, primary)),
    })),
  };
}

function member(shard: ShardIdentifier, primary: DataSourceConfig): MemberConfig {
  return { shard, name: `shard-${shard.group}-${shard.member}`, primary, secondary: undefined, others: {} };
}
