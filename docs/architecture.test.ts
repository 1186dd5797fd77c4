import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ts } from 'ts-morph';
import { expect, test } from 'vitest';
import { parseModule, walk } from '../test/import-graph.js';
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
  const names: string[] = [];
  walk(parseModule(file, readFileSync(join(ROOT, file), 'utf8')).syntax, (node) => {
    if (isFunction(node) && node.name !== undefined) names.push(node.name.getText());
  });
  expect(names).toContain(name);
});

/** A function or method with a body, or a member that is one. */
function isFunction(
  node: ts.Node,
): node is ts.FunctionDeclaration | ts.MethodDeclaration | ts.PropertyAssignment {
  if (ts.isPropertyAssignment(node)) return ts.isArrowFunction(node.initializer);
  return (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) && node.body !== undefined;
}
