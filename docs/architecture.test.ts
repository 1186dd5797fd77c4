import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.js';

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const steps = [...page.matchAll(/^\| \d+ \| `(\w+)` \| `([\w./-]+)` \|/gm)].map(
  ([, name = '', file = '']) => ({ name, file }),
);

test.each(['generator', 'runtime'])('the map names every folder of %s', (folder) => {
  const [, map = ''] = new RegExp(`^${folder}/\\n((?: {2}.*\\n)+)`, 'm').exec(page) ?? [];
  const named = new Set([...map.matchAll(/([\w-]+)\/ /g)].map(([, name]) => name));
  const folders = readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'test-support')
    .map(({ name }) => name);
  expect(folders.filter((name) => !named.has(name))).toEqual([]);
});

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
