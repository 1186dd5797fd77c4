// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.

import { ConfigurationError } from '../configuration-error.js';
import { parseConfig } from '../load-config.js';
import type { FwConfig } from '../types.js';

/** A valid configuration with one PostgreSQL shard; its last lines are the keys of `primary-config`. */
export const ONE_SHARD = `fw:
  namespace: example.wallet
  sharding:
    default-shard: { group: 0, member: 0 }
    groups:
      - group: 0
        name: global
        members:
          - member: 0
            name: global-1
            configs:
              primary-config:
                jdbc-url: jdbc:postgresql://localhost:5432/wallet_global
                username: wallet
                password: hunter2
                maximum-pool-size: 20
`;

/** Path of `primary-config` in {@link ONE_SHARD}. */
export const PRIMARY = 'fw.sharding.groups[0].members[0].configs.primary-config';

export interface ParseOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly file?: string;
}

/** Parses with an empty environment by default. */
export function parse(text: string, options: ParseOptions = {}): FwConfig {
  return parseConfig(text, { file: options.file ?? '/app/fw.config.yaml', env: options.env ?? {} });
}

/** The ConfigurationError that `run` throws. Fails if it throws none, or another error. */
export function errorOf(run: () => unknown): ConfigurationError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

/** The problems of a configuration text. */
export function problemsOf(text: string, options: ParseOptions = {}): ConfigurationError['problems'] {
  return errorOf(() => parse(text, options)).problems;
}

/** The only problem of a configuration text. Fails if there are several. */
export function problemOf(text: string, options: ParseOptions = {}): ConfigurationError['problems'][number] {
  const problems = problemsOf(text, options);
  const [problem] = problems;
  if (problem === undefined || problems.length > 1) {
    throw new Error(`expected one problem, got ${JSON.stringify(problems, undefined, 1)}`);
  }
  return problem;
}

/** {@link ONE_SHARD} with a replaced text. Fails if the text does not occur, so that no test passes by mistake. */
export function oneShardWith(search: string, replacement: string): string {
  if (!ONE_SHARD.includes(search)) throw new Error(`not in the example: ${search}`);
  return ONE_SHARD.replace(search, () => replacement);
}

/** A configuration of `count` PostgreSQL shards. */
export function manyShards(count: number): string {
  const lines = [
    'fw:\n  namespace: x\n  sharding:\n    default-shard: { group: 0, member: 0 }\n    groups:\n',
  ];
  for (let shard = 0; shard < count; shard += 1) {
    const [group, member] = [Math.floor(shard / 64), shard % 64];
    if (member === 0) lines.push(`      - group: ${group}\n        name: group-${group}\n        members:\n`);
    lines.push(`          - member: ${member}
            name: member-${member}
            configs:
              primary-config:
                jdbc-url: jdbc:postgresql://db-${shard}.example.com:5432/wallet
                username: wallet
                password: \${DB_PASSWORD}
                driver-class-name: org.postgresql.Driver
                maximum-pool-size: 20
`);
  }
  return lines.join('');
}
