// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { describe, expect, test } from 'vitest';
import { errorOf, ONE_SHARD, PRIMARY, parse, problemOf } from './test-support/configs.js';

test.each(['issuer', 'jwks-url'])('credentials in the %s of tokens are refused, and not repeated', (key) => {
  const issuer = key === 'issuer' ? '' : 'issuer: https://login.example/, ';
  const access = `  access: { jwt: { ${issuer}audience: a, ${key}: "https://user:hunter7@login.example/keys" } }`;
  const text = ONE_SHARD.replace('  sharding:', `${access}\n  sharding:`);
  const error = errorOf(() => parse(text));
  expect(error.problems).toMatchObject([{ message: 'must not contain credentials' }]);
  expect(error.message).not.toContain('hunter7');
});

test.each([
  ['http: { cors: { origins: ["${VALUE}"] } }', 'origins[0]: is not an origin'],
  ['http: { cors: { origins: ["https://${VALUE}", "https://${VALUE}"] } }', 'origins[1]: is listed twice'],
  [
    'access: { jwt: { issuer: "https://login.example/", audience: a }, tenancy: { claim: "${VALUE}" } }',
    'tenancy: names a claim',
  ],
])('no message has a value of the environment (%s)', (section, message) => {
  const text = ONE_SHARD.replace('  sharding:', `  ${section}\n  sharding:`);
  const error = errorOf(() => parse(text, { env: { VALUE: 'hunter7' } }));
  expect(error.message).toContain(message);
  expect(error.message).not.toContain('hunter7');
});

/** A configuration with groups such as `0 a: 0 m d, 1 n e`: number and name; number, name and database of members. */
function shardsOf(...groups: readonly string[]): string {
  const lines = groups.map((text) => {
    const [group = '', members = ''] = text.split(': ');
    const configs = members.split(', ').map((each) => {
      const [member, name, database] = each.split(' ');
      const primary = `primary-config: { jdbc-url: "jdbc:pglite:mem:${database}" }`;
      return `{ member: ${member}, name: ${name}, configs: { ${primary} } }`;
    });
    const [number, name] = group.split(' ');
    return `      - { group: ${number}, name: ${name}, members: [${configs.join(', ')}] }\n`;
  });
  const head = 'fw:\n  namespace: x\n  sharding:\n    default-shard: { group: 0, member: 0 }\n    groups:\n';
  return head + lines.join('');
}

describe('shards', () => {
  test.each([
    ['two groups with one number', ['0 a: 0 m d', '0 b: 1 n e'], 'group number', 'group'],
    ['two groups with one name', ['0 a: 0 m d', '1 a: 1 n e'], 'group name', 'name'],
    ['two members with one number', ['0 a: 0 m d, 0 n e'], 'member number', 'members[0].member'],
    ['two members with one name', ['0 a: 0 m d, 1 m e'], 'member name', 'members[0].name'],
    [
      'two on one database',
      ['0 a: 0 m d', '1 b: 0 m d'],
      'database',
      `${PRIMARY.replace(/.*groups\[0\]\./, '')}.jdbc-url`,
    ],
  ])('%s are refused', (_, groups, what, key) => {
    const message = `this ${what} is already used by fw.sharding.groups[0].${key}`;
    expect(problemOf(shardsOf(...groups)).message).toBe(message);
  });

  test('of different groups may share number and name', () => {
    expect(parse(shardsOf('0 a: 0 m d', '1 b: 0 m e')).sharding.groups).toHaveLength(2);
  });

  test('need the default one among them', () => {
    expect(problemOf(shardsOf('1 a: 0 m d'))).toMatchObject({
      path: 'fw.sharding.default-shard',
      message: 'the default shard (0, 0) is not listed under groups',
    });
  });
});
