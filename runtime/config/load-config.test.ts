// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { configFor } from './config-for.js';
import { ConfigurationError } from './configuration-error.js';
import { loadConfig } from './load-config.js';
import { errorOf, ONE_SHARD, oneShardWith, PRIMARY, parse, problemsOf } from './test-support/configs.js';
import { temporaryFolder } from './test-support/temporary-folder.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const TWO_SHARDS = join(repository, 'examples/wallet/fw.config.postgres.yaml');

const folder = temporaryFolder();

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('the examples', () => {
  test('the root’s configuration has two embedded shards and the generator folders', () => {
    const config = loadConfig(join(repository, 'fw.config.yaml'), { env: {} });
    expect(config.namespace).toBe('example.wallet');
    expect(config.sharding.defaultShard).toBe(ShardIdentifier.of(0, 0));
    const members = config.sharding.groups.flatMap((group) => group.members);
    expect(members.map(({ shard, primary }) => [String(shard), primary.url])).toEqual([
      ['(0, 0)', { kind: 'pglite', storage: 'file', location: join(repository, 'data/global') }],
      ['(1, 0)', { kind: 'pglite', storage: 'file', location: join(repository, 'data/mexico') }],
    ]);
    expect(config.generator).toMatchObject({
      source: join(repository, 'examples/wallet'),
      output: join(repository, 'examples/wallet/generated'),
    });
  });

  test('the PostgreSQL example loads once DB_PASSWORD is set', () => {
    const config = loadConfig(TWO_SHARDS, { env: { DB_PASSWORD: 'p4ss' } });
    const [global, mexico] = config.sharding.groups;
    expect([global?.name, mexico?.name]).toEqual(['global', 'mexico']);
    const primary = mexico?.members[0]?.primary;
    expect(primary?.url).toMatchObject({ host: 'localhost', port: 5433, database: 'wallet_mexico' });
    expect(primary?.password?.reveal()).toBe('p4ss');
    expect(primary?.maximumPoolSize).toBe(20);
  });

  test('keys may be written in camelCase', () => {
    const kebab = parse(ONE_SHARD);
    const camel = parse(
      ONE_SHARD.replace(/[a-z]+(-[a-z]+)+(?=:)/g, (key) =>
        key.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      ),
    );
    expect(JSON.stringify(camel)).toBe(JSON.stringify(kebab));
  });
});

describe('a valid configuration', () => {
  test('has a default for every absent key', () => {
    const config = parse(oneShardWith('                maximum-pool-size: 20\n', ''));
    expect(config.execution).toEqual({
      timeoutMs: 1_800,
      maximumAttempts: 4,
      storeParams: true,
      keyRetentionMs: 86_400_000,
      rememberedModels: 10_000,
      slowMs: 1_000,
    });
    expect(config.generator).toBeUndefined();
    expect(config.sharding.groups[0]?.members[0]?.primary).toMatchObject({
      maximumPoolSize: 10,
      connectTimeoutMs: 800,
      lockTimeoutMs: 400,
      statementTimeoutMs: 10_000,
      applicationName: 'fw-actions',
      allowUnsafe: [],
      pooler: 'none',
    });
  });

  test('has the values of the file, and paths below its folder', () => {
    const primaryKeys = ['connect-timeout-ms: 1', 'allow-unsafe: [fsync, synchronous_commit]'];
    const others = [
      '  execution: { maximum-attempts: 7, store-params: false }\n',
      '  generator: { output: out, migrations: /srv/migrations, templates: own, title: Wallets, version: 2.1.0 }\n',
    ];
    const config = parse(
      ONE_SHARD + primaryKeys.map((key) => `                ${key}\n`).join('') + others.join(''),
    );
    expect(config.sharding.groups[0]?.members[0]?.primary).toMatchObject({
      maximumPoolSize: 20,
      connectTimeoutMs: 1,
      allowUnsafe: ['fsync', 'synchronous_commit'],
    });
    expect(config.execution).toMatchObject({ maximumAttempts: 7, storeParams: false });
    expect(config.generator).toEqual({
      ...{ source: '/app', output: '/app/out', migrations: '/srv/migrations', templates: '/app/own' },
      ...{ client: undefined, title: 'Wallets', version: '2.1.0' },
    });
  });

  test('has a replica and named configurations', () => {
    const config =
      parse(`${ONE_SHARD}              secondary-config: { jdbc-url: "jdbc:postgresql://replica/wallet", username: reader }
              jobs-config: { jdbc-url: "jdbc:postgresql://jobs/wallet", username: jobs }
`);
    const member = config.sharding.groups[0]?.members[0];
    if (member === undefined) throw new Error('no member');
    expect(member.secondary?.username).toBe('reader');
    expect(Object.keys(member.others)).toEqual(['jobsConfig']);
    expect(configFor(member, 'jobsConfig').username).toBe('jobs');
    expect(configFor(member, 'primaryConfig')).toBe(member.primary);
    expect(configFor(member, 'secondaryConfig')).toBe(member.secondary);
    expect(() => configFor(member, 'jobConfig')).toThrow('did you mean "jobsConfig"?');
    expect(() => configFor(member, 'toString')).toThrow(ConfigurationError);
  });

  test('is deeply frozen', () => {
    const open: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [key, child] of Object.entries(value)) visit(child, `${path}.${key}`);
    };
    visit(parse(ONE_SHARD), 'config');
    expect(open).toEqual([]);
  });

  test('may use anchors and aliases', () => {
    const config = parse(
      `${oneShardWith('username: wallet', 'username: &user wallet')}              jobs-config: { jdbc-url: "jdbc:postgresql://jobs/wallet", username: *user }\n`,
    );
    expect(config.sharding.groups[0]?.members[0]?.others).toMatchObject({
      jobsConfig: { username: 'wallet' },
    });
  });

  test('may have Windows line ends and a byte order mark', () => {
    const path = file('crlf.yaml', `\uFEFF${ONE_SHARD.replaceAll('\n', '\r\n')}`);
    expect(loadConfig(path, { env: {} }).namespace).toBe('example.wallet');
  });
});

test('a file that is missing, a folder, not UTF-8 or too large is refused', () => {
  mkdirSync(join(folder, 'a-folder'));
  const message = (path: string): string => errorOf(() => loadConfig(path)).message;
  expect(message(join(folder, 'absent.yaml'))).toMatch(/absent\.yaml: the file does not exist$/);
  expect(message(join(folder, 'a-folder'))).toMatch(/the file is a folder$/);
  expect(message('/dev/null')).toMatch(/the file is not a regular file$/);
  expect(message(file('latin1.yaml', Buffer.from([0x66, 0x77, 0x3a, 0xe9])))).toMatch(
    /the file is not valid UTF-8$/,
  );
  expect(message(file('large.yaml', '#'.repeat(1_048_577)))).toMatch(/is larger than 1048576 bytes$/);
});

test('all problems are reported at once, in the order of the file', () => {
  const text = ONE_SHARD.replace('example.wallet', '5')
    .replace('5432', '70000')
    .replace('maximum-pool-size: 20', 'maximum-pool-size: 0');
  expect(problemsOf(text).map(({ line, path }) => [line, path])).toEqual([
    [2, 'fw.namespace'],
    [13, `${PRIMARY}.jdbc-url`],
    [16, `${PRIMARY}.maximum-pool-size`],
  ]);
});

test('at most a hundred problems are listed, and the others are counted', () => {
  const keys = Array.from({ length: 250 }, (_, index) => `  unknown-${index}: 1\n`).join('');
  const error = errorOf(() => parse(ONE_SHARD + keys));
  expect([error.problems.length, error.omitted]).toEqual([100, 150]);
  expect(error.message).toMatch(/^The configuration has 250 problems:\n(?:.*\n){100}\.\.\. and 150 more$/);
});
