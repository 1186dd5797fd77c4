import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShardingTopology } from 'fw-actions/config';

/** Writes a configuration with these databases. @returns the path of the file */
export function writeBookingConfig(directory: string, topology: ShardingTopology): string {
  const file = join(directory, 'fw.config.yaml');
  const text = [
    'fw:',
    '  namespace: example.booking',
    '  sharding:',
    '    default-shard: { group: 0, member: 0 }',
    '    groups:',
    ...topology.groups.flatMap(({ group, name, members }) => [
      `      - group: ${group}`,
      `        name: ${name}`,
      '        members:',
      ...members.flatMap(({ shard, name: member, primary }) => [
        `          - member: ${shard.member}`,
        `            name: ${member}`,
        '            configs:',
        '              primary-config:',
        ...linesOf(primary).map((line) => `                ${line}`),
      ]),
    ]),
  ];
  writeFileSync(file, `${text.join('\n')}\n`);
  return file;
}

type DataSource = ShardingTopology['groups'][number]['members'][number]['primary'];

function linesOf({ url, username, password }: DataSource): readonly string[] {
  if (url.kind === 'pglite') return [`jdbc-url: jdbc:pglite:${url.storage}:${url.location}`];
  const { host, port, database } = url;
  return [
    `jdbc-url: jdbc:postgresql://${host}:${port}/${database}`,
    `username: ${JSON.stringify(username)}`,
    `password: ${JSON.stringify(password?.reveal())}`,
    'maximum-pool-size: 8',
  ];
}
