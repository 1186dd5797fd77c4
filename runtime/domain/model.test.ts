import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PlanMisuseError, UnknownModelError, ValidationError } from '../errors.js';
import { Decimal } from './decimal.js';
import { descriptorOf, type Entity, instantiate, pendingEventsOf } from './entity.js';
import { ShardedId } from './id.js';
import { ModelBuilder } from './model-builder.js';
import { ModelEvent, markPersisted } from './model-event.js';
import { ShardIdentifier } from './shard-identifier.js';
import { Account, AccountBuilder, AccountCredited, newAccount, OPENED_AT } from './test-support/account.js';
import { type Note, newNote, noteModel } from './test-support/note.js';

const hundred = new Decimal(100);

/** An event with any text as its model id. */
class AccountNoted extends ModelEvent<Account> {
  constructor(id: string) {
    super(id, Account);
  }
}

/** All visible properties of a model, deeply. */
function snapshot(account: Account): unknown {
  return structuredClone({ ...account, id: String(account.id), balance: String(account.balance) });
}

describe('a model', () => {
  test('is frozen', () => {
    const account = newAccount(hundred).build();
    expect(Object.isFrozen(account)).toBe(true);
    expect(() => Object.assign(account, { version: 9 })).toThrow(TypeError);
    expect(() => Object.assign(account, { unknown: 9 })).toThrow(TypeError);
  });

  test('is not affected by a changed copy', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 20 }),
        (amounts) => {
          const original = newAccount(hundred).nickname('Ana').build();
          const before = snapshot(original);
          let account = original;
          for (const amount of amounts) account = account.credit(new Decimal(amount));
          expect(snapshot(original)).toEqual(before);
          expect(pendingEventsOf(original)).toEqual([]);
          expect(pendingEventsOf(account)).toHaveLength(amounts.length);
          expect(account.balance.equals(amounts.reduce((sum, amount) => sum + amount, 100))).toBe(true);
        },
      ),
    );
  });

  test('has its creation date as the default of updatedDate', () => {
    const later = new Date(OPENED_AT.getTime() + 1);
    expect(newAccount(hundred).build().updatedDate).toEqual(OPENED_AT);
    expect(newAccount(hundred).updatedDate(later).build().updatedDate).toEqual(later);
  });

  test('has a UUID in lower case, as its row will have it', () => {
    const columns = noteModel.columns.map((column) =>
      column.field === 'text' ? { ...column, type: { kind: 'uuid' } as const } : column,
    );
    class TagBuilder extends ModelBuilder<Note> {
      static of(text: string): Note {
        const builder = new TagBuilder({ ...noteModel, columns }).copyAll(newNote(''));
        builder.put('text', text);
        return builder.instantiate();
      }
    }
    const { text } = TagBuilder.of('6F3F6D58-6A8E-4B1E-9D5B-0D7F2F9F4A10');
    expect(text).toBe('6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10');
  });

  test('lists no events and no descriptor among its fields', () => {
    const account = newAccount(hundred).build().credit(hundred);
    expect(Object.keys(account).sort()).toEqual(
      ['balance', 'closedBy', 'createdDate', 'id', 'nickname', 'state', 'updatedDate', 'version'].sort(),
    );
  });

  test('that no builder created is refused', () => {
    const forged: Entity = Reflect.construct(Account, []);
    expect(() => descriptorOf(forged)).toThrow(UnknownModelError);
  });

  test('whose class does not extend Entity is refused', () => {
    const stranger = { ...noteModel, modelClass: () => JSON.parse('null') ?? Date };
    expect(() => instantiate(stranger, {})).toThrow(PlanMisuseError);
  });
});

describe('a builder', () => {
  test.each(['id', 'state', 'balance', 'createdDate'] as const)('refuses a null %s', (field) => {
    const builder = newAccount(hundred);
    const set = builder[field].bind(builder) as (value: unknown) => AccountBuilder;
    expect(() => set(null).build()).toThrow(ValidationError);
    expect(() => set(undefined).build()).toThrow(`${field} cannot be null`);
  });

  test('names the missing field', () => {
    const builder = AccountBuilder.account() as unknown as AccountBuilder;
    expect(() => builder.build()).toThrow(expect.objectContaining({ field: 'id', code: 'FW_VALIDATION' }));
  });

  test('refuses null for an optional field, and undefined for a nullable one', () => {
    const setNull = (builder: AccountBuilder): AccountBuilder => builder.nickname(JSON.parse('null'));
    expect(() => setNull(newAccount(hundred)).build()).toThrow('nickname cannot be null');
    const missing = AccountBuilder.account()
      .id(ShardedId.generate(Account, ShardIdentifier.of(0, 0)))
      .state('OPEN')
      .withInitialVersion()
      .createdDate(OPENED_AT)
      .balance(hundred) as unknown as AccountBuilder;
    expect(() => missing.build()).toThrow('closedBy cannot be null');
  });

  test('does not change models that it has built', () => {
    const builder = newAccount(hundred);
    const first = builder.build();
    expect(() => builder.balance(new Decimal(1))).toThrow('A builder of Account can be used only once');
    expect(first.balance).toEqual(hundred);
    expect(pendingEventsOf(first)).toEqual([]);
  });

  test('copies only the base fields with copyBase', () => {
    const account = newAccount(hundred).nickname('Ana').build();
    const copy = AccountBuilder.account().copyBase(account);
    // @ts-expect-error the account's own fields are missing
    expect(() => copy.build()).toThrow('balance cannot be null');
    const built = copy.balance(new Decimal(1)).closedBy(null).build();
    expect(built).toMatchObject({ id: account.id, state: 'OPEN', version: 1, createdDate: OPENED_AT });
    expect(built.nickname).toBeUndefined();
  });
});

describe('events of a model', () => {
  test('are those attached with withEvent, in that order', () => {
    const account = newAccount(hundred).build();
    const events = [1, 2, 3].map((amount) => new AccountCredited(account.id, new Decimal(amount)));
    const builder = account.copy();
    for (const event of events) builder.withEvent(event);
    const model = builder.build();
    expect(pendingEventsOf(model)).toEqual(events);
    expect(Object.isFrozen(pendingEventsOf(model))).toBe(true);
  });

  test('are copied to copies while they are pending', () => {
    const credited = newAccount(hundred).build().credit(new Decimal(1));
    expect(pendingEventsOf(credited.copy().build())).toEqual(pendingEventsOf(credited));
    const based = AccountBuilder.account().copyBase(credited).balance(hundred).closedBy(null);
    expect(pendingEventsOf(based.build())).toEqual(pendingEventsOf(credited));
  });

  test('that are persisted are not emitted again by the model or its copies', () => {
    const credited = newAccount(hundred).build().credit(new Decimal(1));
    for (const event of pendingEventsOf(credited)) markPersisted(event);
    expect(pendingEventsOf(credited)).toEqual([]);
    const again = credited.credit(new Decimal(2));
    expect(pendingEventsOf(again)).toEqual([new AccountCredited(credited.id, new Decimal(2))]);
  });

  test.each(['a\0', 'a\udc00'])('are not made for the id %j, which cannot be stored', (id) => {
    expect(() => new AccountNoted(id)).toThrow(ValidationError);
  });

  test('name their model outside of their payload', () => {
    const account = newAccount(hundred).build();
    const event = new AccountCredited(account.id, hundred);
    expect(event.getModelId()).toBe(account.id.getValue());
    expect(event.getModelName()).toBe('Account');
    expect(Object.keys(event)).toEqual(['amount']);
  });
});
