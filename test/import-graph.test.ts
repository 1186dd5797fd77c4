import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cyclesOf, parseModule } from './import-graph.js';

/** The only import of a module with this text. */
function importOf(statement: string): unknown {
  const { imports } = parseModule('runtime/http/docs/page.ts', `const x = 1;\n${statement}\n`);
  expect(imports).toHaveLength(1);
  return imports[0];
}

describe('parseModule', () => {
  test.each([
    ["import { a } from '../b.js';", false],
    ["import { type A, b } from '../b.js';", false],
    ["import { type A, type B } from '../b.js';", true],
    ["import type { A } from '../b.js';", true],
    ["import type * as all from '../b.js';", true],
    ["import * as all from '../b.js';", false],
    ["import b from '../b.js';", false],
    ["import b, { type A } from '../b.js';", false],
    ["import '../b.js';", false],
    ["import {} from '../b.js';", false],
    ["export { a } from '../b.js';", false],
    ["export { type A } from '../b.js';", true],
    ["export type { A } from '../b.js';", true],
    ["export * from '../b.js';", false],
    ["type A = import('../b.js').A;", true],
  ])('reads %s', (statement, typeOnly) => {
    expect(importOf(statement)).toEqual({
      specifier: '../b.js',
      file: 'runtime/http/b.ts',
      typeOnly,
      deferred: false,
      line: 2,
    });
  });

  test('recognises deferred imports', () => {
    expect(importOf("const later = () => import('./b.js');")).toMatchObject({
      file: 'runtime/http/docs/b.ts',
      typeOnly: false,
      deferred: true,
    });
  });

  test('distinguishes packages from files', () => {
    expect(importOf("import { a } from 'ajv/dist/2020.js';")).toMatchObject({ file: undefined });
  });

  test('ignores imports in texts', () => {
    const { imports } = parseModule(
      'a.ts',
      "const text = `import { a } from './b.js'`; // import './c.js'\n",
    );
    expect(imports).toEqual([]);
  });

  test('counts lines', () => {
    expect(parseModule('a.ts', 'a;\nb;\n').lines).toBe(2);
  });
});

describe('cyclesOf', () => {
  test('finds each cycle as the set of its files', () => {
    const edges = new Map([
      ['a', ['b', 'x']],
      ['b', ['c']],
      ['c', ['a']],
      ['x', ['y']],
      ['y', ['y']],
      ['z', ['a']],
    ]);
    expect(cyclesOf(edges)).toEqual([['y'], ['a', 'b', 'c']]);
  });

  test('finds none where every file imports later ones only', () => {
    const forward = fc.array(fc.tuple(fc.nat(30), fc.nat(30)));
    fc.assert(
      fc.property(forward, (pairs) => {
        const edges = new Map<string, string[]>();
        for (const [from, to] of pairs) {
          if (from < to) edges.set(`${from}`, [...(edges.get(`${from}`) ?? []), `${to}`]);
        }
        expect(cyclesOf(edges)).toEqual([]);
      }),
    );
  });
});
