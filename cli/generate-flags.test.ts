import { Command } from 'commander';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addTo } from './command.js';
import { GENERATE } from './generate-command.js';
import { plainGenerate } from './generate-flags.js';

const WORDS = [
  '--check',
  '--dry-run',
  '--force',
  '--timing',
  '--quiet',
  '--watch',
  '--help',
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

/** The result of the program's complete parser; undefined if the command line is invalid or requests help. */
function parsed(argv: readonly string[]): object | undefined {
  const output = { info: () => undefined, error: () => undefined };
  const context = { output, version: '1.2.3', signal: new AbortController().signal };
  const program = new Command('fw-gen').exitOverride();
  const silent = { writeOut: () => undefined, writeErr: () => undefined };
  addTo(program, { ...GENERATE, run: async () => 0 }, context, () => undefined);
  const generate = program.commands[0];
  generate?.exitOverride().configureOutput(silent);
  try {
    program.configureOutput(silent).parse(argv, { from: 'user' });
    return generate?.opts();
  } catch {
    return undefined;
  }
}

test('the fast path and the parser agree on a command line', () => {
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

test('the fast path leaves an invalid value to the parser, also if a valid one follows', () => {
  expect(plainGenerate(['generate', '--format', 'xml', '--format', 'json'])).toBeUndefined();
});

test('the fast path handles every switch, and no other command', () => {
  for (const word of WORDS.slice(0, 5)) expect(plainGenerate(['generate', word])).toBeDefined();
  expect(plainGenerate(['generate', '--format', 'json', '--config', 'a.yaml'])).toEqual({
    config: 'a.yaml',
    format: 'json',
  });
  expect(plainGenerate(['config', 'check'])).toBeUndefined();
  expect(plainGenerate([])).toBeUndefined();
});
