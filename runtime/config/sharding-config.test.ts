// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { describe, expect, test } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { SecretText } from './secret.js';
import { type DataSourceInput, ShardingConfig, type ShardingInput } from './sharding-config.js';
import { errorOf, ONE_SHARD, parse } from './test-support/configs.js';

const PRIMARY_INPUT: DataSourceInput = {
  jdbcUrl: 'jdbc:postgresql://localhost:5432/wallet_global',
  username: 'wallet',
  password: 'hunter2',
  maximumPoolSize: 20,
};

function input(primaryConfig: DataSourceInput): ShardingInput {
  return {
    defaultShard: { group: 0, member: 0 },
    groups: [
      { group: 0, name: 'global', members: [{ member: 0, name: 'global-1', configs: { primaryConfig } }] },
    ],
  };
}

/** The problems of a structure that the compiler would refuse. */
function problemsOf(value: object): [path: string, message: string][] {
  const of: (value: never) => unknown = ShardingConfig.of;
  const error = errorOf(() => Reflect.apply(of, undefined, [value]));
  for (const problem of error.problems) expect([problem.file, problem.line]).toEqual([undefined, undefined]);
  return error.problems.map(({ path, message }) => [path, message]);
}

const PATH = 'groups[0].members[0].configs.primaryConfig';

describe('a topology built in code', () => {
  test('equals the one that the same YAML gives', () => {
    expect(ShardingConfig.of(input(PRIMARY_INPUT))).toEqual(parse(ONE_SHARD).sharding);
  });

  test('takes a ShardIdentifier, a secret, undefined for absent keys, and named configurations', () => {
    const base = input({ ...PRIMARY_INPUT, password: SecretText.of('s3cret'), applicationName: undefined });
    const jobsConfig: DataSourceInput = { jdbcUrl: 'jdbc:pglite:mem:jobs' };
    const [group] = base.groups;
    const [member] = group?.members ?? [];
    if (group === undefined || member === undefined) throw new Error('no member');
    const topology = ShardingConfig.of({
      defaultShard: ShardIdentifier.of(0, 0),
      groups: [{ ...group, members: [{ ...member, configs: { ...member.configs, jobsConfig } }] }],
    });
    const built = topology.groups[0]?.members[0];
    expect(topology.defaultShard).toBe(ShardIdentifier.of(0, 0));
    expect(built?.primary.password?.reveal()).toBe('s3cret');
    expect(built?.primary.applicationName).toBe('fw-actions');
    expect(built?.others).toMatchObject({ jobsConfig: { url: { kind: 'pglite' } } });
  });

  test('takes texts literally, without references', () => {
    const topology = ShardingConfig.of(input({ ...PRIMARY_INPUT, password: '${HOME}' }));
    expect(topology.groups[0]?.members[0]?.primary.password?.reveal()).toBe('${HOME}');
  });

  test('resolves relative paths from the given folder', () => {
    const relative = input({ jdbcUrl: 'jdbc:pglite:file:data' });
    const topology = ShardingConfig.of(relative, { baseDirectory: '/srv' });
    expect(topology.groups[0]?.members[0]?.primary.url).toMatchObject({ location: '/srv/data' });
  });

  test('is frozen, its input is not', () => {
    const given = input(PRIMARY_INPUT);
    const topology = ShardingConfig.of(given);
    expect(Object.isFrozen(topology.groups[0]?.members[0]?.primary.url)).toBe(true);
    expect(Object.isFrozen(given)).toBe(false);
  });
});

describe('problems have key paths and no position', () => {
  test('are printed without a file', () => {
    const error = errorOf(() => ShardingConfig.of(input({ ...PRIMARY_INPUT, maximumPoolSize: 0 })));
    expect(error.message).toBe(
      `The configuration has a problem:\n${PATH}.maximumPoolSize: must be an integer from 1 to 1000, found 0`,
    );
  });

  test.each([
    [{ maximumPoolSize: Number.NaN }, 'maximumPoolSize', 'must be an integer from 1 to 1000, found NaN'],
    [{ password: () => 'x' }, 'password', 'must be a string, found a value of another type'],
    [{ username: SecretText.of('x') }, 'username', 'must be a string, found a secret'],
    [{ password: null }, 'password', 'has no value, but must be a string'],
  ])('%o', (change, key, message) => {
    expect(problemsOf(input({ ...PRIMARY_INPUT, ...change } as DataSourceInput))).toEqual([
      [`${PATH}.${key}`, message],
    ]);
  });

  test('suggestions are in camelCase', () => {
    const change: object = { maxPoolSize: 1 };
    const error = errorOf(() => ShardingConfig.of(input({ ...PRIMARY_INPUT, ...change })));
    expect(error.problems[0]?.hint).toBe('did you mean "maximumPoolSize"?');
  });

  test('a value that is not an object, an empty object, a cyclic object', () => {
    expect(problemsOf([])).toEqual([['', 'the sharding configuration must be a plain object']]);
    expect(problemsOf({})).toEqual([
      ['defaultShard', 'is missing'],
      ['groups', 'is missing'],
    ]);
    const loop: { members: unknown[] } = { members: [] };
    loop.members.push(loop);
    expect(problemsOf({ defaultShard: { group: 0, member: 0 }, groups: [loop] }).length).toBeGreaterThan(0);
  });
});
