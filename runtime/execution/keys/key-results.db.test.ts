import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { gate } from '../../concurrency/test-support/gate.js';
import { Decimal } from '../../domain/decimal.js';
import { newAccount } from '../../domain/test-support/account.js';
import { configure, HERE, makeBank } from '../test-support/accounts.js';

const RESULTS: readonly unknown[] = [
  null,
  undefined,
  'null',
  'quotes " and \\ and {braces}',
  [null, { $id: null }],
  { date: new Date(0), early: new Date('-000001-01-01T00:00:00.000Z'), decimal: new Decimal('1.50') },
];

describeOnEachAdapter('Results under keys', (harness) => {
  test.each([
    ['alone', 1],
    ['many in one statement', RESULTS.length],
  ])('are the same for a repeat: %s', async (_, atOnce) => {
    const bank = await makeBank(harness);
    let runs = 0;
    const answer = (number: number): Promise<unknown> =>
      bank.run((plan) => {
        runs += 1;
        plan.add(newAccount(new Decimal(1), HERE).build());
        return RESULTS[number];
      }, configure().idempotencyKey(`answer-${number}`).build());
    const answers = async (): Promise<readonly unknown[]> => {
      const found: unknown[] = [];
      for (let number = 0; number < RESULTS.length; number += atOnce)
        found.push(
          ...(await Promise.all(Array.from({ length: atOnce }, (__, each) => answer(number + each)))),
        );
      return found;
    };
    expect(await answers()).toEqual(RESULTS);
    expect(await answers()).toEqual(RESULTS);
    expect(runs).toBe(RESULTS.length);
  });

  test('are sent to repeats that wait, before their executor has closed', async () => {
    const bank = await makeBank(harness);
    const { opened, open } = gate();
    const keyed = configure().idempotencyKey('wait').build();
    const order: string[] = [];
    const calls = [1, 2].map(async () => {
      order.push(await bank.run(() => opened.then(() => 'first'), keyed));
    });
    const closed = bank.executor.close().then(() => order.push('closed'));
    open();
    await Promise.all([...calls, closed]);
    expect(order).toEqual(['first', 'first', 'closed']);
  });
});
