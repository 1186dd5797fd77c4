import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { Decimal } from './decimal.js';
import type { FieldType } from './descriptor.js';
import { type Entity, instantiate, type ModelDescriptor, markStored } from './entity.js';
import { freezeDocument, ownValues } from './frozen-document.js';
import { accountModel, newAccount, OPENED_AT } from './test-support/account.js';

const account = accountModel as unknown as ModelDescriptor;
const plain = newAccount(new Decimal(5)).updatedDate(OPENED_AT).build();

function stagedAs(type: FieldType, content: unknown): unknown {
  const column = { field: 'content', column: 'content', type, sqlType: 'jsonb' };
  const basket: ModelDescriptor = { ...account, columns: [...account.columns, column] };
  const model: Entity = instantiate(basket, { ...plain, content });
  return { content, ...ownValues(basket, model) }.content;
}

function staged(content: unknown): unknown {
  return stagedAs({ kind: 'json' }, content);
}

const cycle: unknown[] = [];
cycle.push(cycle);

describe('a document of a staged state', () => {
  test('does not change with its input', () => {
    const input = { list: [{ name: 'a' }] };
    const document = staged(input) as typeof input;
    input.list[0] = { name: 'b' };
    input.list.push({ name: 'c' });
    expect(document).toEqual({ list: [{ name: 'a' }] });
    expect([document, document.list, document.list[0]].every(Object.isFrozen)).toBe(true);
  });

  test('is what will be read, whatever its input was', () => {
    const input = { at: new Date(0), amount: new Decimal(1), absent: undefined };
    expect(staged(input)).toStrictEqual({ at: '1970-01-01T00:00:00.000Z', amount: '1' });
    const fields = [
      { name: 'at', type: { kind: 'instant' } },
      { name: 'amount', type: { kind: 'decimal', precision: 19, scale: 4 } },
    ] as const;
    const document = stagedAs({ kind: 'object', fields }, input);
    expect(document).toStrictEqual({ at: new Date(0), amount: new Decimal(1) });
    input.at.setTime(1);
    expect(document).toHaveProperty('at', new Date(0));
  });

  test.each([{ kind: 'number' }, { kind: 'bigint' }] as const)(
    'lacks absent last elements: $kind',
    (type) => {
      const range: FieldType = { kind: 'tuple', items: [{ type }, { type, optional: true }] };
      const one = type.kind === 'number' ? 1 : 1n;
      expect(stagedAs(range, [one, undefined])).toStrictEqual([one]);
      expect(stagedAs(range, [one, one])).toStrictEqual([one, one]);
    },
  );

  test('does not change with a frozen input whose parts are not frozen', () => {
    const part = ['a'];
    const document = staged(Object.freeze({ part }));
    part.push('b');
    expect(document).toEqual({ part: ['a'] });
  });

  test('is the same one as long as it is one that was read or staged', () => {
    const [read, written] = [freezeDocument({ list: ['a'] }), staged(['b'])];
    expect([staged(read), staged(written)].map((each, index) => each === [read, written][index])).toEqual([
      true,
      true,
    ]);
  });

  test('keeps keys like those of prototypes, and values that are no objects', () => {
    const document = staged(JSON.parse('{"__proto__": {"a": 1}, "constructor": null}'));
    expect(JSON.stringify(document)).toBe('{"__proto__":{"a":1},"constructor":null}');
    expect([undefined, null, 5, 'a'].map(staged)).toEqual([undefined, null, 5, 'a']);
  });

  test.each<[string, FieldType, unknown]>([
    ['a cycle', { kind: 'json' }, cycle],
    ['a hole', { kind: 'list', of: { kind: 'bigint' } }, Array(1)],
    [
      'null for what is not null',
      { kind: 'object', fields: [{ name: 'a', type: { kind: 'instant' } }] },
      { a: null },
    ],
  ])('is refused if its input has %s', (_, type, input) => {
    expect(() => stagedAs(type, input)).toThrow(ValidationError);
  });
});

test('a date of a staged state does not change with its input, unless it is the stored one', () => {
  const at = new Date(0);
  const input = newAccount(new Decimal(5)).createdDate(at).build();
  const stored = markStored(instantiate(account, { ...input, createdDate: at }));
  const own = ownValues(account, input);
  expect(ownValues(account, stored, stored)).toBeUndefined();
  at.setTime(1);
  expect(own?.['createdDate']).toEqual(new Date(0));
});

test('a model without documents and dates has none', () => {
  const columns = account.columns.filter(({ type }) => type.kind !== 'instant');
  expect(ownValues({ ...account, columns }, plain)).toBeUndefined();
});
