import { expect, test } from 'vitest';
import type { FieldDescriptor, FieldType } from '../domain/descriptor.js';
import type { ValueRules } from '../domain/value-rules.js';
import { exampleOf } from './example.js';

const NUMBER: FieldType = { kind: 'number' };
const TEXT: FieldType = { kind: 'string' };
const LIST: FieldType = { kind: 'list', of: TEXT };
const field = (type: FieldType, rules: ValueRules): FieldDescriptor => ({ name: 'code', type, rules });

test.each<[FieldType, ValueRules, unknown]>([
  [NUMBER, { minimum: 5 }, 5],
  [NUMBER, { maximum: -5 }, -5],
  [NUMBER, { exclusiveMinimum: 3 }, 4],
  [NUMBER, { exclusiveMaximum: 1 }, 0],
  [TEXT, { minLength: 6 }, 'codexx'],
  [TEXT, { maxLength: 2 }, 'co'],
  [TEXT, { pattern: '^c' }, 'code'],
  [LIST, { minItems: 2 }, ['code', 'code']],
  [LIST, { maxItems: 0 }, []],
  [{ kind: 'decimal', precision: 4, scale: 2 }, { minimum: 5 }, expect.any(String)],
])('an example of %j with the rules %j is valid', (type, rules, value) => {
  expect(exampleOf([field(type, rules)])).toEqual({ code: value });
  const object: FieldType = { kind: 'object', fields: [field(type, rules)] };
  expect(exampleOf([{ name: 'inner', type: object }])).toEqual({ inner: { code: value } });
});

test('a response with a rule that only a value of its own satisfies has no example', () => {
  const fields = [field(TEXT, { pattern: '^[A-Z]{3}-\\d+$' })];
  expect(exampleOf(fields)).toBeUndefined();
  expect(exampleOf([{ name: 'inner', type: { kind: 'object', fields } }])).toBeUndefined();
});
