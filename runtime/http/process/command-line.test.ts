import { describe, expect, it } from 'vitest';
import { fixedPrincipal } from '../../access/authenticator.js';
import { readCommandLine, UsageError } from './command-line.js';
import type { ServeSettings } from './serve-options.js';

const read = (settings: Partial<ServeSettings>): ReturnType<typeof readCommandLine> =>
  readCommandLine({ authenticator: fixedPrincipal('tester'), argv: [], env: {}, ...settings });

describe('the command line', () => {
  it('has defaults', () => {
    expect(read({})).toEqual({ config: 'fw.config.yaml', host: '127.0.0.1', port: 8080 });
  });

  it('wins over the environment, which wins over the program', () => {
    const program = { config: 'a.yaml', host: '::1', port: 1 };
    expect(read(program)).toEqual(program);
    const env = { FW_CONFIG: 'b.yaml', HOST: '0.0.0.0', PORT: '2' };
    expect(read({ ...program, env })).toEqual({ config: 'b.yaml', host: '0.0.0.0', port: 2 });
    const argv = ['--config', 'c.yaml', '--host=localhost', '--port', '0'];
    expect(read({ ...program, env, argv })).toEqual({ config: 'c.yaml', host: 'localhost', port: 0 });
  });

  it('takes an empty variable for none', () => {
    expect(read({ env: { FW_CONFIG: '', HOST: '', PORT: '' } })).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
    });
  });

  it.each([['--help'], ['-h']])('%s asks for help', (flag) => {
    expect(read({ argv: [flag] })).toBe('help');
  });

  it.each([
    ['--prot', '1'],
    ['--port'],
    ['extra'],
    ['--port', '70000'],
    ['--port', '-1'],
    ['--port', '1e3'],
    ['--port', ''],
    ['--config'],
  ])('%s %s is refused', (...argv) => {
    expect(() => read({ argv })).toThrow(UsageError);
  });

  it('names the variable that is wrong', () => {
    expect(() => read({ env: { PORT: 'http' } })).toThrow('PORT must be a port from 0 to 65535, got "http"');
  });
});
