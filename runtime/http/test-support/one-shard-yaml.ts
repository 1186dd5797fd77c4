import type { ShardingTopology } from '../../config/types.js';

/** A configuration file with the only shard of a topology on a test server. JSON is YAML. */
export function oneShardYaml(
  topology: ShardingTopology,
  { poolSize }: { readonly poolSize: number },
): string {
  const source = topology.groups[0]?.members[0]?.primary;
  if (source?.url.kind !== 'postgresql') throw new Error('A topology with a PostgreSQL server');
  const { host, port, database } = source.url;
  const primary = {
    'jdbc-url': `jdbc:postgresql://${host}:${port}/${database}`,
    username: source.username,
    password: source.password?.reveal(),
    'maximum-pool-size': poolSize,
  };
  const members = [{ member: 0, name: 'only', configs: { 'primary-config': primary } }];
  const groups = [{ group: 0, name: 'all', members }];
  const sharding = { 'default-shard': { group: 0, member: 0 }, groups };
  return JSON.stringify({ fw: { namespace: 'test', sharding } });
}
