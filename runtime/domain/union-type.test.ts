import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { Decimal } from './decimal.js';
import type { FieldType } from './descriptor.js';
import { namedFields, t, type UnnamedField } from './field-types.js';
import { Id } from './id.js';
import { tagsOf } from './kinds/document-kinds.js';
import { chooserOf } from './union-type.js';

/** The class of a package that requires decimal.js instead of importing it. */
const OtherDecimal: typeof Decimal = createRequire(import.meta.url)('decimal.js');

const tagged = (kind: string | number | boolean): UnnamedField =>
  t.object({ kind: t.enum([kind]), size: t.number() });

/** Returns the index of the chosen member. */
function chooser({ type }: UnnamedField, plain?: (value: unknown) => unknown): (value: unknown) => unknown {
  if (type.kind !== 'union') throw new Error('No union');
  return chooserOf(type, (member) => type.of.indexOf(member), plain);
}

describe('A value of a union', () => {
  test.each([
    ['a text', 'one', 0],
    ['a date', new Date(0), 0],
    ['a decimal', new Decimal(1), 0],
    ['a decimal of another copy of the class', new OtherDecimal(1), 0],
    ['an id', Id.of({ name: 'Thing', prototype: {} }, '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10'), 0],
    ['a bigint', 1n, 0],
    ['a number', 1, 1],
    ['a boolean', false, 2],
    ['a list', [], 3],
    ['an object', {}, 4],
    ['null', null, undefined],
    ['undefined', undefined, undefined],
    ['a function', () => {}, undefined],
  ])('%s belongs to the member of its JSON kind', (_case, value, place) => {
    const choose = chooser(
      t.union([t.string(), t.enum([1, 2]), t.boolean(), t.tuple([t.string()]), t.record(t.string())]),
    );
    expect(choose(value)).toBe(place);
  });

  test.each<[string, FieldType, unknown]>([
    ['a decimal', t.decimal(19, 4).type, new Decimal(1)],
    ['an instant', t.instant().type, new Date(0)],
    ['a recursive list', t.recursive('List', t.list(t.again('List'))).type, [[]]],
  ])('%s is found whatever stands before it', (_case, type, value) => {
    expect(chooser(t.union([t.boolean(), { type }]))(value)).toBe(1);
  });

  test('the discriminator of an object decides its variant', () => {
    const choose = chooser(t.unionBy('kind', [tagged('a'), tagged(1), tagged(true), t.string()]));
    expect([{ kind: 'a' }, { kind: 1 }, { kind: true }, 'a'].map(choose)).toEqual([0, 1, 2, 3]);
    expect([{ kind: 'b' }, { kind: '1' }, {}, Object.create({ kind: 'a' }), 5].map(choose)).toEqual(
      new Array(5).fill(undefined),
    );
  });

  test('a recursive member, and references to it, have the discriminator values of the object', () => {
    const not = t.recursive(
      'Not',
      t.object({ kind: t.enum(['not']), of: t.unionBy('kind', [t.againBy('Not', ['not']), tagged('a')]) }),
    );
    expect(chooser(t.unionBy('kind', [tagged('a'), not]))({ kind: 'not' })).toBe(1);
    const below = chooser(t.unionBy('kind', [t.againBy('Not', ['not']), tagged('a')]));
    expect([{ kind: 'not' }, { kind: 'a' }].map(below)).toEqual([0, 1]);
    expect(tagsOf(not.type, 'kind')).toEqual(['not']);
  });

  test('an object has no tags if the field is missing or not a literal', () => {
    const type: FieldType = { kind: 'object', fields: namedFields({ kind: t.string() }) };
    expect([tagsOf(type, 'kind'), tagsOf(type, 'other'), tagsOf(type, undefined)]).toEqual([[], [], []]);
    expect(tagsOf({ kind: 'string' }, 'kind')).toEqual([]);
  });

  test('numbers in another representation are compared as numbers', () => {
    const plain = (value: unknown): unknown => (value instanceof Boxed ? value.value : value);
    const choose = chooser(t.unionBy('kind', [tagged(1), tagged(2), t.number()]), plain);
    expect([{ kind: new Boxed(2) }, new Boxed(7)].map(choose)).toEqual([1, 2]);
  });
});

class Boxed {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}
