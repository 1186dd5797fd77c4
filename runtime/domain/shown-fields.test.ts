import { expect, test } from 'vitest';
import type { FieldDescriptor, FieldType } from './descriptor.js';
import { compileObjectWriter } from './json-codec.js';
import { withoutSecrets } from './shown-fields.js';

const text: FieldType = { kind: 'string' };
const card: FieldType = {
  kind: 'object',
  fields: [
    { name: 'kind', type: { kind: 'enum', values: ['card'] } },
    { name: 'number', type: text },
    { name: 'pin', type: text, secret: true },
  ],
};
const cash: FieldType = {
  kind: 'object',
  fields: [{ name: 'kind', type: { kind: 'enum', values: ['cash'] } }],
};
const nested: FieldType = {
  kind: 'recursive',
  name: 'Tree',
  of: {
    kind: 'object',
    fields: [
      { name: 'pin', type: text, secret: true },
      { name: 'children', type: { kind: 'list', of: { kind: 'again', name: 'Tree' } } },
    ],
  },
};

const SHOWN = { kind: 'card', number: 'n' };
const VALUE = { ...SHOWN, pin: 'SECRET' };

test.each<[string, FieldType, unknown, unknown]>([
  ['an object', card, VALUE, SHOWN],
  ['a list', { kind: 'list', of: card }, [VALUE], [SHOWN]],
  ['a record', { kind: 'record', of: card }, { a: VALUE }, { a: SHOWN }],
  [
    'a tuple with a rest',
    { kind: 'tuple', items: [{ type: card }], rest: { type: card } },
    [VALUE, VALUE],
    [SHOWN, SHOWN],
  ],
  ['a union', { kind: 'union', of: [card, cash], discriminator: 'kind' }, VALUE, SHOWN],
  [
    'a type that contains itself',
    nested,
    { pin: 'SECRET', children: [{ pin: 'SECRET', children: [] }] },
    { children: [{ children: [] }] },
  ],
])('Secret fields inside of %s are left out', (_what, type, value, shown) => {
  const fields: readonly FieldDescriptor[] = [
    { name: 'value', type },
    { name: 'pin', type: text, secret: true },
  ];
  const write = compileObjectWriter(withoutSecrets(fields));
  expect(JSON.parse(write({ value, pin: 'SECRET' }))).toEqual({ value: shown });
  expect(compileObjectWriter(fields)({ value, pin: 'SECRET' })).toContain('SECRET');
});
