import { describe, expect, test } from 'vitest';
import { Decimal } from '../domain/decimal.js';
import { Account, AccountCredited, newAccount } from '../domain/test-support/account.js';
import {
  IdempotencyKeyReusedError,
  ModelNotFoundError,
  UnknownHandlerError,
  ValidationError,
} from '../errors.js';
import type { EventHandler, HandlerDescriptor } from '../events/delivery/handler-descriptor.js';
import type { EventEnvelope } from '../events/log/event-envelope.js';
import { accountApplication, CreditAction } from '../execution/test-support/accounts.js';
import { applicationSpecs } from './application-specs.js';
import { delivery, type HandlerSpec } from './handler-spec.js';
import { persisted } from './persisted.js';
import { recordedCalls } from './recorded-calls.js';
import { BonusHandler, bonusApplication, type Letters } from './test-support/bonuses.js';
import { complaint } from './test-support/complaint.js';

const LATER = new Date('2030-01-01T00:00:00.000Z');
const letters = recordedCalls<Letters>({ send: async () => {} });
const specs = applicationSpecs(bonusApplication, { collaborators: { letters } });
const bonus = specs.handler(BonusHandler);
const account = persisted(newAccount(new Decimal(100)).build(), 3);
const id = account.id.getValue();
const credited = (amount: number): AccountCredited => new AccountCredited(account.id, new Decimal(amount));

/** The specification of the only handler of an application. */
function specOf<H extends EventHandler<AccountCredited>>(
  handlerClass: new () => H,
  options: Partial<HandlerDescriptor> = {},
): HandlerSpec<AccountCredited> {
  const { events } = accountApplication;
  const handler = { name: handlerClass.name, events, create: () => new handlerClass(), ...options };
  return applicationSpecs({ ...accountApplication, wireHandlers: () => [handler] }).handler(handlerClass);
}

/** A handler that records these facts of each envelope. */
function watched(facts: (envelope: EventEnvelope<AccountCredited>) => unknown): {
  readonly seen: readonly unknown[];
  readonly watching: HandlerSpec<AccountCredited>;
} {
  const seen: unknown[] = [];
  class Watcher implements EventHandler<AccountCredited> {
    handle(envelope: EventEnvelope<AccountCredited>): void {
      seen.push(facts(envelope));
    }
  }
  return { seen, watching: specOf(Watcher) };
}

describe('A specification of a handler', () => {
  test('reports the actions that it runs and all their effects', () => {
    const five = { account: id, amount: new Decimal(5) };
    return bonus
      .given(account)
      .when(credited(50))
      .thenRuns(
        { action: CreditAction, params: { ...five, pin: 'later' } },
        { action: CreditAction, params: { account: id, amount: new Decimal(1) } },
      )
      .thenUpdated(Account, { version: 4, balance: new Decimal(105) })
      .thenUpdated(Account, { version: 5, balance: new Decimal(106) })
      .thenEvents(credited(5), credited(1))
      .thenSchedules({ at: LATER, action: CreditAction, params: { ...five, pin: 'later' } })
      .thenStored(account, { balance: new Decimal(106) });
  });

  test('reports only the collaborator calls of its own run', async () => {
    const outcome = bonus.given(account).when(delivery(credited(50), { attempt: 2 }));
    const { calls } = await outcome.performed();
    const eventId = String(calls[0]?.call[3]);
    await Promise.all([
      outcome.thenCalls(letters, ['send', id, 'You got 5', eventId]),
      bonus.given(account).when(credited(1)).thenCalls(letters),
    ]);
  });

  test('compares arguments of calls by predicates and asymmetric matchers', async () => {
    const outcome = bonus.given(account).when(credited(50));
    const startsWith = (start: string) => (text: string) => text.startsWith(start);
    await outcome
      .thenCalls(letters, ['send', id, startsWith('You got'), expect.any(String)])
      .thenCalls(letters, ['send', id, { asymmetricMatch: (text) => text === 'You got 5' }, () => true]);
    const wrong = await complaint(
      outcome.thenCalls(letters, ['send', id, startsWith('We got'), expect.any(Number)]),
    );
    expect(wrong.message).toContain("+     'You got 5'");
    expect(wrong.message).toContain('-     [Function (anonymous)]');
    expect(wrong.message).toContain('-     Any {');
    // @ts-expect-error a predicate of another type
    await complaint(outcome.thenCalls(letters, ['send', id, (text: number) => text > 1, 'id']));
  });

  test('compares matchers within arguments, and functions by identity', async () => {
    interface Queue {
      put(
        job: { readonly tags: readonly string[]; readonly atMs: number },
        done: () => boolean,
        urgent?: boolean,
      ): void;
    }
    const queue = recordedCalls<Queue>({ put: () => {} });
    const done = (): boolean => true;
    class Queuer implements EventHandler<AccountCredited> {
      handle(): void {
        queue.put({ tags: ['a', 'b'], atMs: 12 }, done, true);
      }
    }
    const outcome = specOf(Queuer).when(credited(1));
    const job = { tags: ['a', expect.stringMatching('b')], atMs: expect.any(Number) };
    await outcome
      .thenCalls(queue, ['put', job, done, (urgent) => urgent === true])
      .thenCalls(queue, ['put', expect.objectContaining({ atMs: 12 }), expect.any(Function), true]);
    await complaint(outcome.thenCalls(queue, ['put', job, done, (urgent) => urgent === false]));
    await complaint(outcome.thenCalls(queue, ['put', job, done]));
    await complaint(outcome.thenCalls(queue, ['put', job, () => true, true]));
    await complaint(outcome.thenCalls(queue, ['put', { ...job, tags: [expect.any(String)] }, done, true]));
  });

  test('delivers events with the ids that the test sets', async () => {
    const eventId = '018f0000-0000-7000-8000-000000000001';
    const actionId = '018f0000-0000-7000-8000-000000000002';
    const { seen, watching } = watched((envelope) => [envelope.id, envelope.actionId]);
    const event = credited(1);
    const first = delivery(event, { id: eventId, actionId });
    await watching.when(first, event, delivery(event, { id: actionId.toUpperCase(), actionId: eventId }));
    expect(seen).toEqual([
      [eventId, actionId],
      [eventId, actionId],
      [actionId, eventId],
    ]);
    await bonus
      .given(account)
      .when(delivery(credited(50), { id: eventId }))
      .thenCalls(letters, ['send', id, 'You got 5', eventId]);
    await watching.when(delivery(credited(1), { id: 'letter-1' })).thenFails(ValidationError, /letter-1/);
  });

  test('redelivers an event as production does: actions take effect once, collaborators are called again', async () => {
    const event = credited(50);
    const outcome = bonus.given(account).when(event, event);
    const { runs, calls } = await outcome.thenStored(account, { balance: new Decimal(106) }).performed();
    expect(runs).toHaveLength(4);
    expect(new Set(calls.map(({ call }) => call[3])).size).toBe(1);
    await bonus
      .given(account)
      .when(credited(50), credited(50))
      .thenStored(account, { balance: new Decimal(112) });
  });

  test('passes a real envelope to the handler', async () => {
    const { seen, watching } = watched(({ modelVersion, attempt, replayed, action, event }) => [
      ...[modelVersion, attempt, replayed, action?.name, event instanceof AccountCredited, event.amount],
    ]);
    const first = credited(1);
    const action = { name: 'Credit', principal: 'alice', params: {} };
    await watching.given(account).when(first, delivery(first, { attempt: 2, replayed: true }));
    await watching.when(delivery(credited(2), { modelVersion: 7, action })).thenNothing();
    expect(seen).toEqual([
      [3, 1, false, 'spec', true, new Decimal(1)],
      [3, 2, true, 'spec', true, new Decimal(1)],
      [7, 1, false, 'Credit', true, new Decimal(2)],
    ]);
  });

  test('reports the difference, at the line of the check', async () => {
    const outcome = bonus.given(account).when(credited(50));
    const wrong = await complaint(
      outcome.thenRuns({ action: CreditAction, params: { account: id, amount: new Decimal(6) } }),
    );
    expect(wrong.message).toContain('Expected the handler to run other actions');
    expect(wrong.message).toContain("+       amount: 'Decimal 5'");
    expect(wrong.message).toContain("-       amount: 'Decimal 6'");
    expect(wrong.stack?.split('\n').find((line) => line.includes(' at '))).toContain('handler-spec.test.ts');
    expect((await complaint(outcome.thenNothing())).message).toContain("'run CreditAction'");
    expect((await complaint(outcome.thenCalls(letters))).message).toContain("'You got 5'");
    const other = newAccount(new Decimal(1)).build();
    expect((await complaint(outcome.thenStored(other, {}))).message).toContain(`Account ${other.id}`);
    expect((await complaint(outcome.thenUpdated(Account))).message).toContain('to hold nothing else');
    expect((await complaint(outcome.thenSchedules())).message).toContain('the handler to schedule other');
  });

  test('fails with the handler’s error', async () => {
    await bonus.given(account).when(credited(5000)).thenFails(RangeError, 'Too large a bonus');
    await bonus.when(credited(50)).thenFails(ModelNotFoundError);
    await expect(bonus.when(credited(50))).rejects.toThrow(ModelNotFoundError);
    const error = await complaint(bonus.when(credited(1)).thenFails(RangeError));
    expect(error.message).toBe(
      'Expected the handler to fail with RangeError, but it succeeded and staged: nothing',
    );
  });

  test('refuses a redelivery that makes a call with other params', async () => {
    let amount = 0;
    class Moody implements EventHandler<AccountCredited> {
      async handle(envelope: EventEnvelope<AccountCredited>): Promise<void> {
        amount += 1;
        await envelope.execute(CreditAction, { account: id, amount: new Decimal(amount) });
      }
    }
    const event = credited(1);
    await specOf(Moody)
      .given(account)
      .when(event, event)
      .thenFails(IdempotencyKeyReusedError, /with other params/);
  });

  test('names the action and the param that has another type', async () => {
    class Careless implements EventHandler<AccountCredited> {
      async handle(envelope: EventEnvelope<AccountCredited>): Promise<void> {
        await envelope.execute(CreditAction, { account: id, amount: '5' as never });
      }
    }
    const inspect = (error: ValidationError): void => expect(error.field).toBe('amount');
    await specOf(Careless)
      .given(account)
      .when(credited(1))
      .thenFails(ValidationError, /^amount of Credit has another type: .+ is not a function$/, inspect);
  });

  test('refuses unknown and transactional handlers', async () => {
    class Stranger implements EventHandler {
      handle(): void {}
    }
    await specs
      .handler(Stranger)
      .when(credited(1))
      .thenFails(UnknownHandlerError, /Stranger is no handler/);
    await specOf(Stranger, { transactional: true })
      .when(credited(1))
      .thenFails(ValidationError, /Test it on a database/);
  });

  test('accepts only events and params of the right classes', () => {
    // @ts-expect-error this handler has no such event
    bonus.when({ amount: 1 });
    // @ts-expect-error the params are those of another action
    bonus.when(credited(1)).thenRuns({ action: CreditAction, params: { shard: 1 } });
    // @ts-expect-error there is no such method
    bonus.when(credited(1)).thenCalls(letters, ['post', id]);
  });
});
