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
  const OF_VALUES: readonly string[] = [
    ...["import { a } from '../b.js';", "import { type A, b } from '../b.js';"],
    ...["import * as all from '../b.js';", "import b from '../b.js';"],
    ...["import b, { type A } from '../b.js';", "import '../b.js';", "import {} from '../b.js';"],
    ...["export { a } from '../b.js';", "export * from '../b.js';"],
  ];
  const OF_TYPES: readonly string[] = [
    ...["import { type A, type B } from '../b.js';", "import type { A } from '../b.js';"],
    ...["import type * as all from '../b.js';", "export { type A } from '../b.js';"],
    ...["export type { A } from '../b.js';", "type A = import('../b.js').A;"],
  ];

  test.each([...OF_VALUES, ...OF_TYPES])('reads %s', (statement) => {
    expect(importOf(statement)).toEqual({
      specifier: '../b.js',
      file: 'runtime/http/b.ts',
      typeOnly: OF_TYPES.includes(statement),
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
