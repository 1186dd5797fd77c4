import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fwGen } from '../generator/test-support/fw-gen.js';
import { projectPerTest } from '../generator/test-support/projects.js';
import { GENERATE } from './generate-command.js';
import { run } from './program.js';

const project = projectPerTest();

describe('fw-gen generate', () => {
  test('prints one line and exits with 0', async () => {
    const { code, info, error } = await project.generate();
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(info).toMatch(/^11 files written, 0 unchanged, \d+ ms$/);
    expect((await project.generate()).info).toMatch(/^0 files written, 7 unchanged, \d+ ms$/);
  });

  test.each([
    ['a configuration that is not there', ['generate', '--config', join('no', 'such.yaml')]],
    ['an unknown flag', ['generate', '--frobnicate'], 'Usage: fw-gen generate'],
    ['a flag without its value', ['generate', '--config']],
    ['a superfluous argument', ['generate', 'more']],
    ['an unknown command', ['degenerate']],
    ['no command', []],
  ])('ends with 2 and says why after %s', async (_, argv, said = '') => {
    const { code, error } = await fwGen(...argv);
    expect(code).toBe(2);
    expect(error).not.toBe('');
    expect(error).toContain(said);
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
  const options = { version: '1.2.3', commands: [GENERATE] };
  expect(await run(['generate', '--config', project.config], output, options)).toBe(3);
  expect(error.join('\n')).toContain('This is a bug in fw-gen');
});
