import { describe, expect, test } from 'vitest';
import { Decimal } from '../domain/decimal.js';
import { descriptorOf, instantiate, pendingEventsOf } from '../domain/entity.js';
import { accountModel, newAccount } from '../domain/test-support/account.js';
import { ValidationError } from '../errors.js';
import { persisted } from './persisted.js';

describe('persisted', () => {
  const credited = newAccount(new Decimal(1)).nickname('Ana').build().credit(new Decimal(2));

  test('has the fields of the model, but not its pending events', () => {
    const stored = persisted(credited);
    expect(stored).toEqual(credited);
    expect(pendingEventsOf(stored)).toEqual([]);
    expect(pendingEventsOf(credited)).toHaveLength(1);
    expect(descriptorOf(stored)).toBe(accountModel);
    expect(Object.isFrozen(stored)).toBe(true);
  });

  test('may be at any version', () => {
    expect(persisted(credited, 9)).toEqual({ ...credited, version: 9 });
    expect(credited.version).toBe(1);
  });

  test('has frozen documents in the form that is read from a database', () => {
    const column = { field: 'content', column: 'content', type: { kind: 'json' }, sqlType: 'jsonb' } as const;
    const basket = { ...accountModel, columns: [...accountModel.columns, column] };
    const content = { list: ['a'], at: new Date(0) };
    const stored = Object(persisted(instantiate(basket, { ...credited, content }))).content;
    expect(stored).toStrictEqual({ list: ['a'], at: '1970-01-01T00:00:00.000Z' });
    expect(() => stored.list.push('b')).toThrow(TypeError);
    expect(content.list).toEqual(['a']);
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses version %d', (version) => {
    expect(() => persisted(credited, version)).toThrow(ValidationError);
  });
});
