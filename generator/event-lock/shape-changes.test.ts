import { describe, expect, test } from 'vitest';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import { breakingChanges } from './shape-changes.js';
import { storedShape } from './stored-shape.js';

const location = { file: 'a.ts' };

function field(name: string, type: TypeSchema, more: Partial<FieldSchema> = {}): FieldSchema {
  return { name, type, optional: false, nullable: false, tags: [], location, ...more };
}

const text: TypeSchema = { kind: 'string' };
const number: TypeSchema = { kind: 'number' };
const decimal: TypeSchema = { kind: 'decimal' };
const object = (...fields: readonly FieldSchema[]): TypeSchema => ({ kind: 'object', fields });
const kind = (value: string): FieldSchema => field('kind', { kind: 'enum', values: [value] });
const union = (...of: readonly TypeSchema[]): TypeSchema => ({ kind: 'union', of });
const list = (of: TypeSchema, nullable?: true): TypeSchema => ({
  kind: 'list',
  of,
  ...(nullable && { nullable }),
});
const item = (type: TypeSchema, optional?: true) => ({ type, ...(optional && { optional }) });

/** The changes of the field `f` as sentences. */
function changes(before: TypeSchema, after: TypeSchema): readonly string[] {
  const [old, now] = [before, after].map((type) => storedShape({ fields: [field('f', type)] }));
  return breakingChanges(old ?? {}, now ?? {}).map(({ path, what }) => `${path.join('.')} ${what}`);
}

const CARD = object(kind('card'), field('amount', decimal));
const CASH = object(kind('cash'), field('drawer', text));

describe('A change of a shape', () => {
  test.each<[string, TypeSchema, TypeSchema, string]>([
    ['items of a list', list(text), list(number), 'f was list of string and is now list of number'],
    [
      'items that may be null',
      list(text),
      list(text, true),
      'f was list of string and is now list of string or null',
    ],
    [
      'a field of items',
      list(CARD),
      list(object(kind('card'), field('amount', text))),
      'f.amount was decimal and is now string',
    ],
    [
      'values of a record',
      { kind: 'record', of: decimal },
      { kind: 'record', of: text },
      'f was record of decimal and is now record of string',
    ],
    [
      'an item of a tuple that was optional',
      { kind: 'tuple', items: [item(number), item(text, true)] },
      { kind: 'tuple', items: [item(number), item(text)] },
      'f was [number, string?] and is now [number, string]',
    ],
    [
      'an item of a tuple with a rest',
      { kind: 'tuple', items: [item(number)], rest: item(text) },
      { kind: 'tuple', items: [item(decimal)], rest: item(text) },
      'f was [number, ...string] and is now [decimal, ...string]',
    ],
    [
      'a field of one form',
      union(CARD, CASH),
      union(object(kind('card'), field('amount', text)), CASH),
      'f.amount was decimal and is now string',
    ],
    [
      'a further form',
      union(CARD, CASH),
      union(CARD, CASH, object(kind('check'))),
      'f was object with kind card or object with kind cash and is now object with kind card or object with kind cash ' +
        'or object with kind check',
    ],
  ])('of %s is described', (_what, before, after, change) => {
    expect(changes(before, after)).toEqual([change]);
    expect(changes(before, before)).toEqual([]);
  });

  test('may add optional fields to one form of a union, and to items', () => {
    const more = object(kind('cash'), field('drawer', text), field('note', text, { optional: true }));
    expect(changes(union(CARD, CASH), union(CARD, more))).toEqual([]);
    expect(changes(list(CASH), list(more))).toEqual([]);
  });

  test('may name recursive types anew, but not refer to another one', () => {
    const nested = (outer: string, inner: string, name: string): TypeSchema => {
      const part: TypeSchema = { kind: 'recursive', name: inner, of: list({ kind: 'again', name }) };
      return { kind: 'recursive', name: outer, of: object(field('part', part)) };
    };
    expect(changes(nested('A', 'B', 'A'), nested('C', 'A', 'C'))).toEqual([]);
    expect(changes(nested('A', 'B', 'A'), nested('A', 'B', 'B'))).toHaveLength(1);
    expect(changes(nested('A', 'A', 'A'), nested('A', 'B', 'B'))).toEqual([]);
  });

  test('may list the forms of a union in another order', () => {
    const more = object(field('added', text, { optional: true }), kind('card'), field('amount', decimal));
    expect(changes(union(CARD, CASH, text), union(text, CASH, more))).toEqual([]);
  });
});
