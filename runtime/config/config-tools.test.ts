import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { configSchema } from './config-schema.js';
import { printConfig } from './print-config.js';
import { ONE_SHARD, parse } from './test-support/configs.js';

const FULL = `fw:
  namespace: example.wallet
  generator: { source: src, output: src/generated, migrations: src/migrations, templates: t, title: Wallets, version: 2.0.0 }
  execution: { timeout-ms: 900, store-params: false }
  sharding:
    default-shard: { group: 0, member: 0 }
    maximum-connections: 60
    groups:
      - group: 0
        name: global
        members:
          - member: 0
            name: global-1
            weight: 3
            draining: true
            configs:
              primary-config:
                jdbc-url: jdbc:postgresql://[::1]:5433/wallet%20global?sslmode=verify-full&sslrootcert=ca.pem&sslcert=me.pem&sslkey=key%20of%20me.pem
                username: wallet
                password: hunter2
                allow-unsafe: [synchronous_commit]
              secondary-config: { jdbc-url: "jdbc:postgresql://replica/wallet", username: reader, password: hunter3 }
              jobs-config: { jdbc-url: "jdbc:pglite:mem:jobs" }
`;

it('The printed configuration is parsed to the configuration that was printed, except for its secrets', () => {
  for (const text of [ONE_SHARD, FULL]) {
    const config = parse(text);
    const printed = printConfig(config);
    expect(printed).not.toContain('hunter');
    const { file: _, ...again } = parse(printed);
    const { file: __, ...before } = config;
    expect(JSON.parse(JSON.stringify(again))).toEqual(JSON.parse(JSON.stringify(before)));
  }
});

describe('The JSON Schema', () => {
  const validate = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowMatchingProperties: true,
  }).compile({ ...configSchema() });
  const accepts = (text: string): boolean => validate(parseYaml(text));

  it('accepts valid configurations, in both spellings and with references', () => {
    expect(accepts(ONE_SHARD)).toBe(true);
    expect(accepts(FULL)).toBe(true);
    expect(accepts(FULL.replace('default-shard', 'defaultShard').replace('jobs-config', 'jobsConfig'))).toBe(
      true,
    );
    expect(accepts(ONE_SHARD.replace('maximum-pool-size: 20', 'maximum-pool-size: $' + '{POOL}'))).toBe(true);
  });

  it.each([
    ['maximum-pool-size: 20', 'max-pool-size: 20'],
    ['maximum-pool-size: 20', 'maximum-pool-size: 0'],
    ['maximum-pool-size: 20', 'maximum-pool-size: "20"'],
    ['group: 0, member: 0', 'group: 256, member: 0'],
    ['  namespace: example.wallet\n', ''],
    ['jdbc:postgresql', 'jdbc:mysql'],
  ])('refuses %s written %s', (from, to) => {
    expect(accepts(ONE_SHARD.replace(from, to))).toBe(false);
  });
});
