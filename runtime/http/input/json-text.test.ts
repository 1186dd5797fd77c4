import fc from 'fast-check';
import { stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { HttpProblem } from '../problem.js';
import { parseJsonBytes, parseJsonText } from './json-text.js';

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
    const tokens = '{ } [ ] , : "a" " \\ \\u0061 1 - .5 e3 true nul'.split(' ');
    const fragment = fc.constantFrom(...tokens, ' ', '\n', '\u00a0', '\ufeff');
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
        const later = between.replace(/^"[xyz]/, '$&2');
        const text = `{${before}${first}:1,${later}${second}:1}`;
        expect(() => parseJsonText(text, DEPTH)).toThrow('Duplicate key "ab"');
      }),
    );
  });

  it.each([
    ['a bare NaN', '{"amount":NaN}', 'Malformed JSON: '],
    ['a truncated text', '{"amount":', 'Malformed JSON: '],
    ['trailing text', '{"amount":1}x', 'Malformed JSON: '],
    ['a raw control character', '{"recipient":"\u0001"}', 'Malformed JSON: '],
    ['a byte order mark', '\ufeff{"amount":1}', 'Malformed JSON: '],
    ['an equal duplicate', '{"amount":1,"amount":1}', 'Duplicate key "amount"'],
    ['a nested duplicate', '{"amount":1,"x":[{"a":1,"a":1}]}', 'Duplicate key "a"'],
    ['__proto__', '{"__proto__":{"amount":5}}', 'The key "__proto__" is not allowed'],
    ['an escaped __proto__', '{"\\u005f_proto__":{"amount":5}}', 'The key "__proto__" is not allowed'],
    ['deep arrays', `{"amount":${'['.repeat(1_000)}${']'.repeat(1_000)}}`, 'Nested more than 32 levels deep'],
    ['deep objects', '{"a":'.repeat(1_000), 'Nested more than 32 levels deep'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'The body is not valid UTF-8'],
    ['an overlong form', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'The body is not valid UTF-8'],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'The body is not valid UTF-8'],
  ])('refuses %s, and says why', (_what, text, detail) => {
    expect(() => parseJsonBytes(Buffer.from(text), DEPTH)).toThrow(detail);
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
