// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { configFor } from './config-for.js';
import { ConfigurationError } from './configuration-error.js';
import { loadConfig } from './load-config.js';
import { errorOf, ONE_SHARD, oneShardWith, PRIMARY, parse, problemsOf } from './test-support/configs.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const TWO_SHARDS = join(repository, 'examples/wallet/fw.config.postgres.yaml');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fw-config-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
    expect(members.map(({ shard, primary }) => [shard, primary.url])).toEqual([
      [
        ShardIdentifier.of(0, 0),
        { kind: 'pglite', storage: 'file', location: join(repository, 'data/global') },
      ],
      [
        ShardIdentifier.of(1, 0),
        { kind: 'pglite', storage: 'file', location: join(repository, 'data/mexico') },
      ],
    ]);
    expect(config.generator).toEqual({
      source: join(repository, 'examples/wallet'),
      output: join(repository, 'examples/wallet/generated'),
      migrations: join(repository, 'examples/wallet/migrations'),
      templates: undefined,
      client: join(repository, 'examples/wallet/generated/client'),
      title: undefined,
      version: '1.0.0',
    });
  });

  test('the PostgreSQL example loads once DB_PASSWORD is set', () => {
    const config = loadConfig(TWO_SHARDS, { env: { DB_PASSWORD: 'p4ss' } });
    const [global, mexico] = config.sharding.groups;
    expect([global?.name, mexico?.name]).toEqual(['global', 'mexico']);
    const primary = mexico?.members[0]?.primary;
    expect(primary?.url).toEqual({
      kind: 'postgresql',
      host: 'localhost',
      port: 5433,
      database: 'wallet_mexico',
      sslMode: 'disable',
      sslRootCert: undefined,
    });
    expect(primary?.password?.reveal()).toBe('p4ss');
    expect(primary?.maximumPoolSize).toBe(20);
  });

  test('without DB_PASSWORD it is refused, naming the variable, file, line and column', () => {
    const error = errorOf(() => loadConfig(TWO_SHARDS, { env: {} }));
    expect(error.problems).toHaveLength(2);
    expect(error.problems[0]).toEqual({
      file: TWO_SHARDS,
      line: 17,
      column: 27,
      path: `${PRIMARY}.password`,
      message: 'the environment variable DB_PASSWORD is not set',
    });
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

  test('has the value of every key of the file', () => {
    const config = parse(`${oneShardWith(
      'maximum-pool-size: 20\n',
      `maximum-pool-size: 1000
                connect-timeout-ms: 1
                lock-timeout-ms: 2
                statement-timeout-ms: 3
                application-name: wallet service
                allow-unsafe: [fsync, synchronous_commit]
                pooler: pgbouncer-1.21
`,
    )}  execution: { timeout-ms: 6, maximum-attempts: 7, store-params: false }
  generator: { output: out, migrations: /srv/migrations, templates: own, client: web, title: Wallets, version: 2.1.0 }
`);
    expect(config.sharding.groups[0]?.members[0]?.primary).toMatchObject({
      maximumPoolSize: 1_000,
      connectTimeoutMs: 1,
      lockTimeoutMs: 2,
      statementTimeoutMs: 3,
      applicationName: 'wallet service',
      allowUnsafe: ['fsync', 'synchronous_commit'],
      pooler: 'pgbouncer-1.21',
    });
    expect(config.execution).toEqual({
      timeoutMs: 6,
      maximumAttempts: 7,
      storeParams: false,
      keyRetentionMs: 86_400_000,
      rememberedModels: 10_000,
      slowMs: 1_000,
    });
    expect(config.generator).toEqual({
      source: '/app',
      output: '/app/out',
      migrations: '/srv/migrations',
      templates: '/app/own',
      client: '/app/web',
      title: 'Wallets',
      version: '2.1.0',
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

  test('never prints the password', () => {
    const config = parse(ONE_SHARD);
    expect(inspect(config, { depth: 20, showHidden: true }) + JSON.stringify(config)).not.toContain(
      'hunter2',
    );
    expect(config.sharding.groups[0]?.members[0]?.primary.password?.reveal()).toBe('hunter2');
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

describe('files that are not a configuration', () => {
  test('a file that is missing, a folder, not UTF-8 or too large', () => {
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
