import { format, inspect } from 'node:util';
import { expect, test } from 'vitest';
import { SecretText } from './secret.js';

test('a secret is shown only by reveal()', () => {
  const secret = SecretText.of('hunter2');
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect(secret, { showHidden: true, depth: 9 }),
    inspect({ nested: [secret] }),
    format('%s %o %j', secret, secret, secret),
    JSON.stringify(Object.getOwnPropertyDescriptors(secret)),
  ].join(' ');
  expect(shown).toContain('***');
  expect(shown).not.toContain('hunter2');
  expect(secret.reveal()).toBe('hunter2');
  expect(Object.isFrozen(secret)).toBe(true);
});
