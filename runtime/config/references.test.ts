// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from './load-config.js';
import { errorOf, oneShardWith, PRIMARY, parse, problemOf } from './test-support/configs.js';
import { temporaryFolder } from './test-support/temporary-folder.js';
import type { FwConfig } from './types.js';

type Env = Readonly<Record<string, string | undefined>>;

function password(config: FwConfig): string | undefined {
  return config.sharding.groups[0]?.members[0]?.primary.password?.reveal();
}

const withPassword = (value: string): string => oneShardWith('hunter2', value);
const withPoolSize = (value: string): string =>
  oneShardWith('maximum-pool-size: 20', `maximum-pool-size: ${value}`);
const poolSize = (value: string, env: Env): number | undefined =>
  parse(withPoolSize(value), { env }).sharding.groups[0]?.members[0]?.primary.maximumPoolSize;

describe('a reference', () => {
  test.each([
    ['${A}', { A: 'x' }, 'x'],
    ['a-${A}-${B}', { A: 'x', B: 'y' }, 'a-x-y'],
    ['${A:-default}', {}, 'default'],
    ['${A:-default}', { A: '' }, 'default'],
    ['${A:-a:-b c}', {}, 'a:-b c'],
    ['x${A:-}', {}, 'x'],
    ['${A}', { A: '12345' }, '12345'],
    ['${A}', { A: '${B}' }, '${B}'],
    ['${A}', { A: 'x\n    injected: true # }' }, 'x\n    injected: true # }'],
    ['$${A}', {}, '${A}'],
    ['a$${${A}', { A: 'x' }, 'a${x'],
    ['pa$$word$', {}, 'pa$$word$'],
    ['${A}', { A: 'a $& $1 b' }, 'a $& $1 b'],
  ] satisfies [string, Env, string][])('%s with %j', (value, env, expected) => {
    expect(password(parse(withPassword(value), { env }))).toBe(expected);
  });

  test('is a number if the key is a number, quoted or not', () => {
    expect(poolSize('${POOL}', { POOL: '15' })).toBe(15);
    expect(poolSize('"${POOL}"', { POOL: '15' })).toBe(15);
    expect(poolSize('${POOL:-7}', {})).toBe(7);
    expect(poolSize('1${POOL}', { POOL: '5' })).toBe(15);
  });

  test('is a boolean if the key is a boolean', () => {
    const text = `${oneShardWith('hunter2', 'x')}  execution: { store-params: "\${STORE}" }\n`;
    expect(parse(text, { env: { STORE: 'false' } }).execution.storeParams).toBe(false);
    expect(problemOf(text, { env: { STORE: 'no' } }).message).toBe(
      'must be true or false, found the value of ${STORE}',
    );
  });

  test.each(['', ' 15', '15.5', '0x10', '1e1', 'hunter2', '2000'])(
    'a pool size of %j is refused and not shown',
    (value) => {
      expect(problemOf(withPoolSize('${POOL}'), { env: { POOL: value } })).toMatchObject({
        path: `${PRIMARY}.maximum-pool-size`,
        message: 'must be an integer from 1 to 1000, found the value of ${POOL}',
      });
    },
  );
});

describe('references that are refused', () => {
  test('an empty value is refused if the key is a text', () => {
    expect(problemOf(withPassword('${A}'), { env: { A: '' } }).message).toBe('is empty');
  });

  test('keys are never replaced', () => {
    expect(problemOf(`${withPassword('x')}  \${KEY}: 1\n`, { env: { KEY: 'execution' } }).message).toBe(
      'unknown key',
    );
  });

  test('many references to a long value are refused quickly', () => {
    const before = process.cpuUsage();
    problemOf(withPassword(`"${'${A}'.repeat(150_000)}"`), { env: { A: 'x'.repeat(100_000) } });
    problemOf(withPassword(`"${'${'.repeat(300_000)}"`));
    const { user, system } = process.cpuUsage(before);
    // Milliseconds of CPU time, which does not depend on other load of the machine.
    expect((user + system) / 1_000).toBeLessThan(2_000);
  });
});

describe('secret files', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'password'), 's3cret ${NOT} \n');
  writeFileSync(join(folder, 'large'), 'x'.repeat(65_537));
  writeFileSync(join(folder, 'binary'), Buffer.from([0xff, 0xfe]));

  const load = (value: string): FwConfig => {
    const file = join(folder, 'fw.config.yaml');
    writeFileSync(file, withPassword(value));
    return loadConfig(file, { env: {} });
  };

  test('are read without the last line end, from an absolute or a relative path', () => {
    expect(password(load(`\${file:${folder}/password}`))).toBe('s3cret ${NOT} ');
    expect(password(load('${file:password}'))).toBe('s3cret ${NOT} ');
    expect(password(load('${file:./password}'))).toBe('s3cret ${NOT} ');
  });

  test.each([
    ['large', 'the file "large" is larger than 65536 bytes'],
    ['binary', 'the file "binary" is not valid UTF-8'],
    ['absent', 'the file "absent" does not exist'],
    ['.', 'the file "." is a folder'],
  ])('%s is refused', (name, message) => {
    expect(errorOf(() => load(`\${file:${name}}`)).problems[0]?.message).toBe(message);
  });
});
