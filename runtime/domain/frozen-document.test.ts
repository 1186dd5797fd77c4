import { describe, expect, test } from 'vitest';
import { Decimal } from './decimal.js';
import type { FieldType } from './descriptor.js';
import { type Entity, instantiate, type ModelDescriptor, markStored } from './entity.js';
import { freezeDocument, ownValues } from './frozen-document.js';
import { accountModel, newAccount, OPENED_AT } from './test-support/account.js';

const account = accountModel as unknown as ModelDescriptor;
const plain = newAccount(new Decimal(5)).updatedDate(OPENED_AT).build();

class Input {
  readonly names = ['a'];
}

function staged(content: unknown, type: FieldType = { kind: 'json' }): unknown {
  const column = { field: 'content', column: 'content', type, sqlType: 'jsonb' };
  const basket: ModelDescriptor = { ...account, columns: [...account.columns, column] };
  const model: Entity = instantiate(basket, { ...plain, content });
  return ownValues(basket, model)?.['content'];
}

describe('a document of a staged state', () => {
  test('does not change with its input', () => {
    const input = { list: [{ name: 'a' }], more: new Input() };
    const document = staged(input) as typeof input;
    input.list[0] = { name: 'b' };
    input.list.push({ name: 'c' });
    input.more.names.push('b');
    expect(document).toStrictEqual({ list: [{ name: 'a' }], more: { names: ['a'] } });
    expect([document, document.list, document.list[0], document.more.names].every(Object.isFrozen)).toBe(
      true,
    );
  });

  test('holds what will be read: values of other types only where the type of the document has them', () => {
    const input = (): unknown => ({ at: new Date(0), amount: new Decimal('1.50'), note: undefined });
    expect(staged(input())).toStrictEqual({ at: '1970-01-01T00:00:00.000Z', amount: '1.5' });
    const type: FieldType = {
      kind: 'object',
      fields: [
        { name: 'at', type: { kind: 'instant' } },
        { name: 'amount', type: { kind: 'decimal', precision: 19, scale: 4 } },
      ],
    };
    expect(staged(input(), type)).toStrictEqual({ at: new Date(0), amount: new Decimal('1.5') });
  });

  test('is the input if its writer refuses that', () => {
    const input = { value: Number.NaN };
    expect(staged(input)).toBe(input);
  });

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
    expect([undefined, null, 5, 'a'].map((value) => staged(value))).toEqual([undefined, null, 5, 'a']);
  });

  test('is the input if that has a cycle, which its writer refuses', () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(staged(cycle)).toBe(cycle);
  });
});

test('a date of a staged state does not change with its input, unless it is the stored one', () => {
  const at = new Date(0);
  const input = newAccount(new Decimal(5)).createdDate(at).build();
  const stored = markStored(instantiate(account, { ...input, createdDate: at }));
  const own = ownValues(account, input);
  expect(ownValues(account, stored)?.['createdDate']).toBe(at);
  at.setTime(1);
  expect(own?.['createdDate']).toEqual(new Date(0));
});

test('a model without documents and dates has none', () => {
  const columns = account.columns.filter(({ type }) => type.kind !== 'instant');
  expect(ownValues({ ...account, columns }, plain)).toBeUndefined();
});
