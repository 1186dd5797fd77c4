import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const RUNTIME = fileURLToPath(new URL('../../runtime/', import.meta.url));
const NAME_OF_CLASS = /(?:\.constructor|[cC]lass|new\.target)\.name\b/;

/** Files that read the name of a class for messages, never for a stored value. */
const MESSAGES = [
  'action/action-plan.ts',
  'action/action-registry.ts',
  'domain/entity.ts',
  'domain/json-text.ts',
  'errors.ts',
  'events/log/event-envelope.ts',
  'execution/action-executor.ts',
  'persistence/codec/event-catalog.ts',
  'persistence/codec/result-json.ts',
];

test('the runtime reads the name of a class only for messages', () => {
  const files = readdirSync(RUNTIME, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$|test-support/.test(file))
    // The test kit shows names to people and stores none.
    .filter((file) => !file.startsWith('testing/'));
  expect(
    files.filter((file) => NAME_OF_CLASS.test(readFileSync(`${RUNTIME}${file}`, 'utf8'))).sort(),
  ).toEqual(MESSAGES);
});
