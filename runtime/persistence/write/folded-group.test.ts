import { describe, expect, test } from 'vitest';
import { Decimal } from '../../domain/decimal.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { instantiate } from '../../domain/entity.js';
import { PlanMisuseError, ValidationError } from '../../errors.js';
import { idOf, planOf } from '../test-support/plans.js';
import { foldGroup, type RowChange } from './folded-group.js';

const names = ['a', 'b', 'c'];

function textOf({ kind, model, expectedVersion }: RowChange): string {
  const name = names.find((each) => idOf(each).equals(model.id)) ?? '?';
  return `${kind} ${name} ${expectedVersion} -> ${model.version}`;
}

function fold(...plans: readonly string[]): readonly string[] {
  return foldGroup(plans.map((plan) => planOf(...plan.split(' ')))).map(textOf);
}

describe('a group', () => {
  test.each([
    [
      'of one plan is what the plan stages',
      ['a1>2 +b c3?'],
      'update a 1 -> 2, add b 0 -> 1, expect c 3 -> 3',
    ],
    ['of several updates of one row is one', ['a1>2', 'a2>3', 'a3>4'], 'update a 1 -> 4'],
    [
      'that adds a row and updates it adds the last state',
      ['+a', 'a1>2', 'b5>6 a2>3'],
      'add a 0 -> 3, update b 5 -> 6',
    ],
    [
      'that expects one version twice expects it once',
      ['a1? b1>2', 'a1? b2>3'],
      'expect a 1 -> 1, update b 1 -> 3',
    ],
  ])('%s', (_, plans, changes) => {
    expect(fold(...plans).join(', ')).toBe(changes);
  });

  test.each([
    ['from another version than the one before leaves', 'a1>2', 'a3>4'],
    ['after an expectation', 'a1?', 'a1>2'],
    ['by adding it again', 'a1>2', '+a'],
    ['that it then expects', 'a1>2', 'a2?'],
  ])('never changes a row %s', (_, first, second) => {
    expect(() => fold(first, second)).toThrow(PlanMisuseError);
  });

  test.each([0, 1])(
    'that expects a remembered state proves it, also if only plan %i remembers it',
    (index) => {
      const plans = ['a1? b1>2', 'a1? b2>3'].map((plan) => planOf(...plan.split(' ')));
      const [item] = plans[index]?.items ?? [];
      if (item?.kind !== 'expect') throw new Error('Nothing is expected');
      item.guess = item.model;
      expect(foldGroup(plans)[0]).toHaveProperty('guess', item.model);
    },
  );

  describe('that skips a state', () => {
    const skipping = (values: object, folding?: boolean): (() => unknown) => {
      const plans = ['a1>2', 'a2>3', 'a3>4'].map((plan) => planOf(plan));
      const [item] = plans[1]?.items ?? [];
      if (item === undefined) throw new Error('Nothing is staged');
      const declared = folding === undefined ? {} : { folding };
      const varchar = item.descriptor.columns.map((column) =>
        column.field === 'nickname' ? { ...column, sqlType: 'varchar(20)' } : column,
      );
      const descriptor: ModelDescriptor = { ...item.descriptor, ...declared, columns: varchar };
      const model = instantiate(descriptor, { ...item.model, ...values });
      const groups = plans.map((plan, index) =>
        index === 1
          ? { ...plan, items: [{ ...item, model }] }
          : { ...plan, items: plan.items.map((other) => ({ ...other, descriptor })) },
      );
      return () => foldGroup(groups);
    };

    test('does so if it fits its columns', () => {
      expect(skipping({ balance: new Decimal('999999999999999.9999'), closedBy: 'bob' })).not.toThrow();
    });

    test.each([
      ['a number beyond its column', { balance: new Decimal('1e15') }],
      ['a character that cannot be stored', { closedBy: '\0' }],
      ['no date', { updatedDate: new Date(Number.NaN) }],
      ['nothing where something must be', { balance: null }],
      ['what only the server can judge', { nickname: 'Al' }],
      ['a date whose text only the server can judge', { updatedDate: new Date('+020000-01-01T00:00:00Z') }],
    ])('refuses %s', (_, values) => {
      expect(skipping(values)).toThrow(ValidationError);
    });

    test('leaves to the server what the model declares to be no matter', () => {
      expect(skipping({ nickname: 'Al' }, true)).not.toThrow();
      expect(skipping({ balance: new Decimal('1e15') }, true)).toThrow(ValidationError);
    });
  });
});
