import { expect, test } from 'vitest';
import { plainGenerate } from './generate-flags.js';

test.each([
  ['generate', { config: 'fw.config.yaml' }],
  ['generate --check --quiet', { config: 'fw.config.yaml', check: true, quiet: true }],
  ['generate --config a.yaml --check', { config: 'a.yaml', check: true }],
  ['generate --config=a.yaml --config=b.yaml', { config: 'b.yaml' }],
])('the stamp of an earlier run may answer `fw-gen %s`', (line, expected) => {
  expect(plainGenerate(line.split(' '))).toEqual(expected);
});

test.each([
  ...['', 'config check', 'generate --config', 'generate --config --check', 'generate a.yaml'],
  ...['generate --format json', 'generate --force', 'generate --chec', 'generate --help'],
  'generate -- a.yaml',
])('the parser of all commands reads `fw-gen %s`', (line) => {
  expect(plainGenerate(line.split(' '))).toBeUndefined();
});
