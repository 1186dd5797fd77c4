import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fwGen } from '../generator/test-support/fw-gen.js';
import { run } from './program.js';

const golden = fileURLToPath(new URL('../generator/golden', import.meta.url));
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fw-cli-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function configure(input: string, generator = true): string {
  cpSync(join(golden, input, 'input'), join(folder, 'src'), { recursive: true });
  const file = join(folder, 'fw.config.yaml');
  const section = '  generator: { source: src, output: src/generated, migrations: src/migrations }\n';
  writeFileSync(
    file,
    `fw:\n  namespace: test\n${generator ? section : ''}  sharding:\n    default-shard: { group: 0, member: 0 }\n` +
      '    groups:\n      - group: 0\n        name: one\n        members:\n          - member: 0\n            name: one-1\n' +
      '            configs: { primary-config: { jdbc-url: "jdbc:pglite:mem:one" } }\n',
  );
  return file;
}

describe('fw-gen generate', () => {
  test('writes, prints one line and exits with 0', async () => {
    const file = configure('orders');
    const { code, info, error } = await fwGen('generate', '--config', file);
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(info).toMatch(/^11 files written, 0 unchanged, \d+ ms$/);
    expect(existsSync(join(folder, 'src/generated/order.ts'))).toBe(true);
    expect((await fwGen('generate', '--config', file)).info).toMatch(
      /^0 files written, 7 unchanged, \d+ ms$/,
    );
  });

  test('ends with 2 after mistakes in the sources, each with its position and a hint', async () => {
    const { code, error, info } = await fwGen('generate', '--config', configure('fwgen010-constructor'));
    expect({ code, info }).toEqual({ code: 2, info: '' });
    expect(error).toContain('src/thing.ts:7:3 FWGEN010 Thing declares a constructor\n');
    expect(error).toContain('1 mistake, nothing written');
  });

  test.each([
    [
      'a configuration that is not there',
      async () => fwGen('generate', '--config', join(folder, 'none.yaml')),
    ],
    [
      'a configuration without a generator',
      async () => fwGen('generate', '--config', configure('orders', false)),
    ],
    ['an unknown flag', async () => fwGen('generate', '--frobnicate')],
    ['a flag without its value', async () => fwGen('generate', '--config')],
    ['a superfluous argument', async () => fwGen('generate', 'more')],
    ['an unknown command', async () => fwGen('degenerate')],
    ['no command', async () => fwGen()],
  ])('ends with 2 and says why after %s', async (_what, ran) => {
    const { code, error } = await ran();
    expect(code).toBe(2);
    expect(error).not.toBe('');
  });

  test('shows the usage after an unknown flag', async () => {
    expect((await fwGen('generate', '--frobnicate')).error).toContain('Usage: fw-gen generate');
  });
});

test('--version and --help end with 0', async () => {
  expect(await fwGen('--version')).toEqual({ code: 0, info: '1.2.3', error: '' });
  const help = await fwGen('--help');
  expect(help.code).toBe(0);
  expect(help.info).toContain('$ fw-gen generate');
});

test('a bug of the program exits with 3 and requests a report', async () => {
  const error: string[] = [];
  const output = {
    info: (): never => {
      throw new Error('broken');
    },
    error: (line: string) => error.push(line),
  };
  expect(await run(['generate', '--config', configure('orders')], output, { version: '1.2.3' })).toBe(3);
  expect(error.join('\n')).toContain('This is a bug in fw-gen');
});
