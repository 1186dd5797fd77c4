import type { DataSourceConfig, ShardingTopology } from '../../runtime/config/types.js';

/** A configuration file with this topology and with sources, output and migrations below `src`. JSON is YAML. */
export function topologyYaml(topology: ShardingTopology): string {
  const generator = { source: 'src', output: 'src/generated', migrations: 'src/migrations' };
  const { group, member } = topology.defaultShard;
  const sharding = { defaultShard: { group, member }, groups: topology.groups.map(groupJson) };
  return JSON.stringify({ fw: { namespace: 'test', generator, sharding } }, null, 2);
}

function groupJson({ group, name, members }: ShardingTopology['groups'][number]): object {
  const list = members.map(({ shard, name: memberName, primary }) => ({
    member: shard.member,
    name: memberName,
    configs: { primaryConfig: sourceJson(primary) },
  }));
  return { group, name, members: list };
}

function sourceJson({ url, username, password, allowUnsafe }: DataSourceConfig): object {
  if (url.kind !== 'postgresql') throw new Error('Only PostgreSQL servers');
  return {
    jdbcUrl: `jdbc:postgresql://${url.host}:${url.port}/${url.database}`,
    username,
    password: password?.reveal(),
    ...(allowUnsafe.length === 0 ? {} : { allowUnsafe }),
  };
}
