import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.js';

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const steps = [...page.matchAll(/^\| \d+ \| `(\w+)` \| `([\w./-]+)` \|/gm)].map(
  ([, name = '', file = '']) => ({ name, file }),
);

test('the walk of a deposit names at most twelve functions', () => {
  expect(steps.length).toBeGreaterThan(8);
  expect(steps.length).toBeLessThanOrEqual(12);
});

test.each(steps)('$name is a function of $file', ({ name, file }) => {
  const source = readFileSync(join(ROOT, file), 'utf8');
  expect(source).toMatch(
    new RegExp(
      `^( {2}(readonly |protected |override |async |abstract )*|(export )?(async )?function )${name}(<.*)?\\(`,
      'm',
    ),
  );
});
