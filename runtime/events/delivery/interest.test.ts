import { expect, test } from 'vitest';
import { Decimal } from '../../domain/decimal.js';
import { Account, AccountCredited, accountModel, newAccount } from '../../domain/test-support/account.js';
import { RecordedEvent } from '../../persistence/codec/recorded-event.js';
import type { PlanWrite } from '../../persistence/write/plan-write.js';
import { creditedEvent, handlerOf } from '../test-support/ledger.js';
import { interestOf } from './interest.js';

const account = newAccount(new Decimal(1)).build();
const credited = new AccountCredited(account.id, new Decimal(1));
const concerns = interestOf([handlerOf('Mirror', () => {}, { event: creditedEvent })]);

function planWith(facts: Partial<PlanWrite>): PlanWrite {
  const action = {
    id: '',
    name: '',
    principal: '',
    startedDate: new Date(0),
    completedDate: new Date(0),
    params: '',
    result: '',
  };
  return { action, items: [], traceContext: undefined, key: undefined, ...facts };
}

function planOf(...events: readonly AccountCredited[]): PlanWrite {
  return planWith({ items: [{ kind: 'add', descriptor: accountModel as never, model: account, events }] });
}

test('a commit with an event that a handler selects concerns it, in any group and plan', () => {
  expect(concerns([[planOf()], [planOf(), planOf(credited)]])).toBe(true);
});

test('a commit without events, or without events for a handler, does not', () => {
  const expectation = {
    kind: 'expect',
    descriptor: accountModel as never,
    model: account,
    expectedVersion: 1,
  } as const;
  expect(concerns([[planOf(), planWith({ items: [expectation] })]])).toBe(false);
  expect(interestOf([])([[planOf(credited)]])).toBe(false);
});

test('a commit with a scheduled action always does', () => {
  const schedules = [{ id: '', dueDate: '', actionName: 'Credit', params: '{}', paramsVersion: 1 }];
  expect(interestOf([])([[planWith({ schedules })]])).toBe(true);
});

test('so does a recorded event', () => {
  const facts = {
    type: 'Old',
    version: 1,
    modelId: account.id.getValue(),
    modelName: Account.name,
    payload: '{}',
  };
  const items = [
    { kind: 'add', descriptor: accountModel as never, model: account, events: [new RecordedEvent(facts)] },
  ] as const;
  expect(interestOf([])([[planWith({ items })]])).toBe(true);
});
