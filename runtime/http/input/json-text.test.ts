import fc from 'fast-check';
import { stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { HttpProblem } from '../problem.js';
import { parseJsonText } from './json-text.js';

const DEPTH = 32;

function accepts(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    expect(error instanceof HttpProblem || error instanceof SyntaxError).toBe(true);
    return false;
  }
}

describe('parsing', () => {
  it('gives what JSON.parse gives', () => {
    const value = fc.jsonValue({ maxDepth: 6 }).filter((json) => !JSON.stringify(json).includes('__proto__'));
    fc.assert(
      fc.property(value, (json) => {
        const text = JSON.stringify(json);
        expect(JSON.parse(stringify(parseJsonText(text, DEPTH)) ?? '')).toEqual(JSON.parse(text));
      }),
    );
  });

  it('accepts nothing that JSON.parse refuses', () => {
    const fragment = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '\\u0061',
      '1',
      '-',
      '.5',
      'e3',
      'true',
      'nul',
      ' ',
      '\n',
      '\u00a0',
      '\ufeff',
    );
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 12 }), (fragments) => {
        const text = fragments.join('');
        if (accepts(() => parseJsonText(text, DEPTH))) JSON.parse(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds every key that stands twice, however it is written', () => {
    const spellings = fc.constantFrom('"ab"', '"\\u0061b"', '"a\\u0062"', '"\\u0061\\u0062"');
    const other = fc.constantFrom('"x":[{"ab":1}],', '"y":{"ab":{}},', '"z":"\\"ab\\":",', '');
    fc.assert(
      fc.property(spellings, spellings, other, other, (first, second, before, between) => {
        const text = `{${before}${first}:1,${between.replace('"x"', '"x2"').replace('"y"', '"y2"').replace('"z"', '"z2"')}${second}:1}`;
        expect(() => parseJsonText(text, DEPTH)).toThrow('Duplicate key "ab"');
      }),
    );
  });

  it('keeps the text of numbers', () => {
    expect(stringify(parseJsonText('[1e400,0.1000000000000000055,-0]', DEPTH))).toBe(
      '[1e400,0.1000000000000000055,-0]',
    );
  });

  it('is fast for texts that are designed to be slow', () => {
    const hostile = [
      '['.repeat(65_000),
      '{"a":'.repeat(10_000),
      `"${'\\u0061'.repeat(10_000)}"`,
      `{${Array.from({ length: 8_000 }, (_, at) => `"${at}":1`).join(',')}}`,
      `[${'9'.repeat(65_000)}]`,
      '"'.repeat(65_000),
      '\\'.repeat(65_000),
    ];
    for (const text of hostile) {
      const start = performance.now();
      accepts(() => parseJsonText(text, DEPTH));
      expect(performance.now() - start).toBeLessThan(10_000);
    }
  });
});
