import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandContext } from './command-context.js';
import { Command } from './commander.js';
import { addGenerateCommand } from './generate-command.js';
import { plainGenerate } from './generate-flags.js';

const WORDS = [
  '--check',
  '--dry-run',
  '--clean',
  '--force',
  '--no-cache',
  '--verify-cache',
  '--timing',
  '--quiet',
  '--watch',
  '--help',
  '--cache',
  '--chec',
  '-q',
  '--config',
  '--config=other.yaml',
  '--format',
  '--format=json',
  '--',
  '-',
  'a.yaml',
  'json',
  'text',
  'sarif',
  'xml',
  '',
  '__proto__',
];

/** What the parser of the whole program makes of a command line; undefined if it is mistaken or asks for help. */
function parsed(argv: readonly string[]): object | undefined {
  const output = { info: () => undefined, error: () => undefined };
  const context = commandContext(output, () => undefined, {
    version: '1.2.3',
    signal: new AbortController().signal,
  });
  const program = new Command('fw-gen').exitOverride();
  const silent = { writeOut: () => undefined, writeErr: () => undefined };
  addGenerateCommand(program, { ...context, run: () => Promise.resolve() });
  const generate = program.commands[0];
  generate?.exitOverride().configureOutput(silent);
  try {
    program.configureOutput(silent).parse(argv, { from: 'user' });
    return generate?.opts();
  } catch {
    return undefined;
  }
}

test('a command line that is understood without a parser means what the parser makes of it', () => {
  let understood = 0;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...WORDS), { maxLength: 5 }), (words) => {
      const flags = plainGenerate(['generate', ...words]);
      if (flags === undefined) return;
      understood += 1;
      expect(flags).toEqual(parsed(['generate', ...words]));
    }),
    { numRuns: 2_000 },
  );
  expect(understood).toBeGreaterThan(100);
});

test('every switch is understood, and no other command', () => {
  for (const word of WORDS.slice(0, 8)) expect(plainGenerate(['generate', word])).toBeDefined();
  expect(plainGenerate(['generate', '--format', 'json', '--config', 'a.yaml'])).toEqual({
    config: 'a.yaml',
    cache: true,
    format: 'json',
  });
  expect(plainGenerate(['config', 'check'])).toBeUndefined();
  expect(plainGenerate([])).toBeUndefined();
});
