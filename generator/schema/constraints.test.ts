import { expect, test } from 'vitest';
import { constraintsOf } from './constraints.js';
import type { TypeSchema } from './type-schema.js';

const location = { file: 'a.ts', line: 1, column: 1 };

function defaultOf(type: TypeSchema, tags: string): unknown {
  const read = tags.split(' @').map((tag) => {
    const [name = '', ...words] = tag.replace('@', '').split(' ');
    return { name, text: words.join(' '), location };
  });
  const field = { name: 'a', type, optional: true, nullable: false, tags: read, location };
  const { constraints, problems } = constraintsOf(field);
  expect(problems.length).toBe(constraints.default === undefined ? 1 : 0);
  return constraints.default;
}

test.each([
  ['currency', '@default EUR', 'EUR'],
  ['currency', '@default ZZQ', undefined],
  ['currency', '@default eur', undefined],
  ['decimal', '@default 0.1234', '0.1234'],
  ['decimal', '@default 0.123400', '0.123400'],
  ['decimal', '@default 0.123456', undefined],
  ['decimal', '@default 0.123456 @numeric 10,6', '0.123456'],
  ['decimal', '@numeric 3,1 @default 100', undefined],
  ['decimal', '@numeric 3,1 @default 99.9', '99.9'],
  ['decimal', '@numeric 4,4 @default 0', '0'],
  ['decimal', '@maximum 0.3 @default 0.3', '0.3'],
  ['decimal', '@exclusiveMaximum 0.3 @default 0.3', undefined],
  ['bigint', '@default 9223372036854775807', '9223372036854775807'],
  ['bigint', '@default 9223372036854775808', undefined],
  ['bigint', '@default -9223372036854775808', '-9223372036854775808'],
  ['bigint', '@default 99999999999999999999', undefined],
  ['bigint', '@minimum 9007199254740994 @default 9007199254740993', undefined],
  ['string', '@default ab @minLength 5', undefined],
  ['string', '@maxLength 1 @default 𝄞', '𝄞'],
  ['string', '@maxLength 1 @default ab', undefined],
  ['string', '@pattern ^[A-Z]+$ @default Ab', undefined],
  ['string', '@pattern ^[A-Z]+$ @default AB', 'AB'],
  ['number', '@maximum 3 @default 7', undefined],
  ['number', '@exclusiveMinimum 3 @default 3', undefined],
  ['number', '@minimum 3 @default 3', 3],
  ['number', '@integer @default 1.5', undefined],
  ['number', '@integer @default 9007199254740992', undefined],
  ['number', '@default 9007199254740993', undefined],
  ['number', '@default 0.1', 0.1],
  ['number', '@default 1000000000000000000000', 1e21],
  ['number', '@default 12345678901234.5678', undefined],
  ['number', `@default 1${'0'.repeat(400)}`, undefined],
  ['number', '@maximum 12345678901234.5678', undefined],
  ['boolean', '@default false', false],
] as const)('the default of a %s with %j is %s', (kind, tags, expected) => {
  expect(defaultOf({ kind }, tags)).toBe(expected);
});

test('the default of a union is one of its texts', () => {
  expect(defaultOf({ kind: 'enum', values: ['A'] }, '@default A')).toBe('A');
  expect(defaultOf({ kind: 'enum', values: ['A'] }, '@default B')).toBeUndefined();
});
