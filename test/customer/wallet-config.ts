import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The database of one of the wallet's two shards. */
export interface ShardPlace {
  readonly jdbcUrl: string;
  readonly username?: string;
  readonly password?: string;
}

/** Writes a configuration with the wallet's two shards, as an operator would. Returns the path of the file. */
export function writeWalletConfig(
  directory: string,
  { global, mexico }: { readonly global: ShardPlace; readonly mexico: ShardPlace },
  /** The deadline of executions. Default: that of the product. */
  timeoutMs?: number,
): string {
  const file = join(directory, 'fw.config.yaml');
  const text = [
    'fw:',
    '  namespace: example.wallet',
    ...(timeoutMs === undefined ? [] : [`  execution: { timeout-ms: ${timeoutMs} }`]),
    '  sharding:',
    '    default-shard: { group: 0, member: 0 }',
    '    groups:',
    ...group(0, 'global', global),
    ...group(1, 'mexico', mexico),
  ];
  writeFileSync(file, `${text.join('\n')}\n`);
  return file;
}

function group(number: number, name: string, place: ShardPlace): readonly string[] {
  return [
    `      - group: ${number}`,
    `        name: ${name}`,
    '        members:',
    '          - member: 0',
    `            name: ${name}-1`,
    '            configs:',
    '              primary-config:',
    `                jdbc-url: ${place.jdbcUrl}`,
    ...(place.username === undefined ? [] : [`                username: ${place.username}`]),
    ...(place.password === undefined ? [] : [`                password: ${place.password}`]),
  ];
}
