// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { describe, expect, test } from 'vitest';
import { FwError } from '../errors.js';
import {
  errorOf,
  ONE_SHARD,
  oneShardWith,
  PRIMARY,
  parse,
  problemOf,
  problemsOf,
} from './test-support/configs.js';

test.each(['issuer', 'jwks-url'])('credentials in the %s of tokens are refused, and not repeated', (key) => {
  const issuer = key === 'issuer' ? '' : 'issuer: https://login.example/, ';
  const access = `  access: { jwt: { ${issuer}audience: a, ${key}: "https://user:hunter7@login.example/keys" } }`;
  const text = ONE_SHARD.replace('  sharding:', `${access}\n  sharding:`);
  const error = errorOf(() => parse(text));
  expect(error.problems).toMatchObject([{ message: 'must not contain credentials' }]);
  expect(error.message).not.toContain('hunter7');
});

describe('keys', () => {
  test('max-pool-size gets the suggestion maximum-pool-size, in the printed form', () => {
    const error = errorOf(() =>
      parse(oneShardWith('maximum-pool-size', 'max-pool-size'), { file: 'fw.config.yaml' }),
    );
    expect(error.message).toBe(
      'The configuration has a problem:\n' +
        `fw.config.yaml:16:17 ${PRIMARY}.max-pool-size: unknown key (did you mean "maximum-pool-size"?)`,
    );
    expect(error).toBeInstanceOf(FwError);
    expect(error.code).toBe('FW_CONFIGURATION');
  });

  test.each([
    ['jdbc-url', 'jdbc_url'],
    ['jdbc-url', 'url'],
    ['username', 'user'],
    ['maximum-pool-size', 'pool-size'],
    ['maximum-pool-size', 'maximum-poolSize'],
  ])('%s is suggested for %s', (wanted, written) => {
    const problem = problemsOf(oneShardWith(`${wanted}:`, `${written}:`)).find(({ path }) =>
      path.endsWith(written),
    );
    expect(problem).toMatchObject({ message: 'unknown key', hint: expect.stringMatching(/^did you mean "/) });
    expect(problem?.hint?.replaceAll('-', '').toLowerCase()).toContain(wanted.replaceAll('-', ''));
  });

  test('a key without a similar one gets the list of valid keys', () => {
    expect(problemOf(`${ONE_SHARD}  xyz: 1\n`)).toMatchObject({
      path: 'fw.xyz',
      hint: 'known here: namespace, migrate-at-start, sharding, access, http, execution, retention, relay, generator',
    });
  });

  test.each([
    ['maximum-pool-size: 5', 'maximum-pool-size'],
    ['maximumPoolSize: 5', 'maximumPoolSize'],
  ])('a second %s is a duplicate', (line, key) => {
    expect(problemOf(`${ONE_SHARD}                ${line}\n`)).toMatchObject({
      line: 17,
      column: 17,
      path: `${PRIMARY}.${key}`,
      message: 'the key maximum-pool-size is given twice',
    });
  });

  test('duplicates are found at the top level and among named configurations', () => {
    expect(problemOf(`${ONE_SHARD}fw: {}\n`)).toMatchObject({
      path: 'fw',
      message: 'the key fw is given twice',
    });
    const named = '{ jdbc-url: "jdbc:pglite:mem:x" }';
    expect(
      problemOf(`${ONE_SHARD}              jobs-config: ${named}\n              jobsConfig: ${named}\n`)
        .message,
    ).toBe('the key jobs-config is given twice');
  });

  test('a misspelled primary-config is not a named configuration', () => {
    const problems = problemsOf(oneShardWith('primary-config', 'primry-config'));
    expect(problems.map(({ hint, message }) => hint ?? message)).toEqual([
      'did you mean "primary-config"?',
      'is missing',
    ]);
  });

  test.each(['__proto__', 'constructor', 'toString'])('%s is a key like any other', (key) => {
    expect(problemOf(`${ONE_SHARD}  ${key}: 1\n`)).toMatchObject({
      path: `fw.${key}`,
      message: 'unknown key',
    });
  });

  test('an unknown key with control characters is shown escaped', () => {
    expect(problemOf(`${ONE_SHARD}  "a\\e[31m\\nb": 1\n`).path).toBe('fw["a\\u001b[31m\\nb"]');
  });

  test.each([
    ['fw.namespace', '  namespace: example.wallet\n'],
    ['fw.sharding.default-shard', '    default-shard: { group: 0, member: 0 }\n'],
    [`${PRIMARY}.jdbc-url`, '                jdbc-url: jdbc:postgresql://localhost:5432/wallet_global\n'],
    [`${PRIMARY}.username`, '                username: wallet\n'],
  ])('%s is required', (path, line) => {
    expect(problemOf(oneShardWith(line, ''))).toMatchObject({ path, message: 'is missing' });
  });
});

test.each([
  ['      - group: 0', '      - group: 256', 'must be an integer from 0 to 255, found 256'],
  ['          - member: 0', '          - member: 64', 'must be an integer from 0 to 63, found 64'],
  ['member: 0 }', 'member: 64 }', 'must be an integer from 0 to 63, found 64'],
  ['{ group: 0, ', '{ group: 256, ', 'must be an integer from 0 to 255, found 256'],
])('%s as %s names the range', (search, replacement, message) => {
  expect(problemOf(oneShardWith(search, replacement)).message).toBe(message);
});

describe('shards', () => {
  const shard = (group: number, members: string): string =>
    `      - group: ${group}\n        name: g${group}\n        members:\n${members}`;
  const member = (number: number, options: { name?: string; database?: string } = {}): string =>
    `          - { member: ${number}, name: ${options.name ?? `m${number}`}, configs: { primary-config: { jdbc-url: "jdbc:pglite:mem:${options.database ?? `d${number}`}" } } }\n`;
  const sharding = (groups: string): string =>
    `fw:\n  namespace: x\n  sharding:\n    default-shard: { group: 0, member: 0 }\n    groups:${groups}`;

  test('two groups with one number', () => {
    const text = sharding(`\n${shard(0, member(0))}${shard(0, member(1)).replace('g0', 'other')}`);
    expect(problemOf(text)).toMatchObject({
      path: 'fw.sharding.groups[1].group',
      message: 'this group number is already used by fw.sharding.groups[0].group',
    });
  });

  test('two groups with one name', () => {
    const text = sharding(`\n${shard(0, member(0))}${shard(1, member(1)).replace('g1', 'g0')}`);
    expect(problemOf(text).message).toBe('this group name is already used by fw.sharding.groups[0].name');
  });

  test('two members of one group with one number, or one name', () => {
    expect(
      problemOf(sharding(`\n${shard(0, member(0) + member(0, { name: 'b', database: 'b' }))}`)).message,
    ).toBe('this member number is already used by fw.sharding.groups[0].members[0].member');
    expect(problemOf(sharding(`\n${shard(0, member(0) + member(1, { name: 'm0' }))}`)).message).toBe(
      'this member name is already used by fw.sharding.groups[0].members[0].name',
    );
  });

  test('members of different groups may share number and name', () => {
    const text = sharding(`\n${shard(0, member(0))}${shard(1, member(0, { database: 'other' }))}`);
    expect(parse(text).sharding.groups).toHaveLength(2);
  });

  test('two shards on one database', () => {
    const text = sharding(`\n${shard(0, member(0))}${shard(1, member(0))}`);
    expect(problemOf(text)).toMatchObject({
      path: 'fw.sharding.groups[1].members[0].configs.primary-config.jdbc-url',
      message:
        'this database is already used by fw.sharding.groups[0].members[0].configs.primary-config.jdbc-url',
    });
  });

  test('a default shard that is not listed', () => {
    expect(problemOf(sharding(`\n${shard(1, member(0))}`))).toMatchObject({
      path: 'fw.sharding.default-shard',
      message: 'the default shard (0, 0) is not listed under groups',
    });
  });
});
