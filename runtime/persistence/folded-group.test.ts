import { describe, expect, test } from 'vitest';
import { PlanMisuseError } from '../errors.js';
import { foldGroup, type RowChange } from './folded-group.js';
import { idOf, planOf } from './test-support/plans.js';

const names = ['a', 'b', 'c'];

function textOf({ kind, model, expectedVersion }: RowChange): string {
  const name = names.find((each) => idOf(each).equals(model.id)) ?? '?';
  return `${kind} ${name} ${expectedVersion} -> ${model.version}`;
}

function fold(...plans: readonly string[]): readonly string[] {
  return foldGroup(plans.map((plan) => planOf(...plan.split(' ')))).map(textOf);
}

describe('a group', () => {
  test('of one plan is what the plan stages', () => {
    expect(fold('a1>2 +b c3?')).toEqual(['update a 1 -> 2', 'add b 0 -> 1', 'expect c 3 -> 3']);
  });

  test('of several updates of one row is one update from the first version to the last', () => {
    expect(fold('a1>2', 'a2>3', 'a3>4')).toEqual(['update a 1 -> 4']);
  });

  test('that adds a row and updates it is an insert of the last state', () => {
    expect(fold('+a', 'a1>2', 'b5>6 a2>3')).toEqual(['add a 0 -> 3', 'update b 5 -> 6']);
  });

  test('that expects one version twice expects it once', () => {
    expect(fold('a1? b1>2', 'a1? b2>3')).toEqual(['expect a 1 -> 1', 'update b 1 -> 3']);
  });

  test.each([
    ['from another version than the one before leaves', 'a1>2', 'a3>4'],
    ['after an expectation', 'a1?', 'a1>2'],
    ['by adding it again', 'a1>2', '+a'],
  ])('never changes a row %s', (_, first, second) => {
    expect(() => fold(first, second)).toThrow(PlanMisuseError);
  });

  test('never expects what it changes', () => {
    expect(() => fold('a1>2', 'a2?')).toThrow(PlanMisuseError);
  });
});
