import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fwGen } from '../generator/test-support/fw-gen.js';
import { type TestProject, testProject } from '../generator/test-support/projects.js';
import { GENERATE } from './generate-command.js';
import { run } from './program.js';

let project: TestProject;

beforeEach(() => {
  project = testProject();
});

afterEach(() => project.delete());

describe('fw-gen generate', () => {
  test('prints one line and exits with 0', async () => {
    const generate = () => fwGen('generate', '--config', project.config);
    const { code, info, error } = await generate();
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(info).toMatch(/^11 files written, 0 unchanged, \d+ ms$/);
    expect((await generate()).info).toMatch(/^0 files written, 7 unchanged, \d+ ms$/);
  });

  test.each([
    ['a configuration that is not there', ['generate', '--config', join('no', 'such.yaml')]],
    ['an unknown flag', ['generate', '--frobnicate']],
    ['a flag without its value', ['generate', '--config']],
    ['a superfluous argument', ['generate', 'more']],
    ['an unknown command', ['degenerate']],
    ['no command', []],
  ])('ends with 2 and says why after %s', async (_, argv) => {
    const { code, error } = await fwGen(...argv);
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
  const options = { version: '1.2.3', commands: [GENERATE] };
  expect(await run(['generate', '--config', project.config], output, options)).toBe(3);
  expect(error.join('\n')).toContain('This is a bug in fw-gen');
});
