import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { Action } from '../../action/action.js';
import { ActionRegistry } from '../../action/action-registry.js';
import { ExecutionConfiguration } from '../../action/execution-configuration.js';
import { systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import { newAccount } from '../../domain/test-support/account.js';
import { ActionExecutor } from '../action-executor.js';
import { ALICE, accountMigrations, HERE, openBank } from '../test-support/accounts.js';

const RESULTS: readonly unknown[] = [
  null,
  undefined,
  'null',
  'quotes " and \\ and {braces}',
  [null, { $id: null }],
  { date: new Date(0), early: new Date('-000001-01-01T00:00:00.000Z'), decimal: new Decimal('1.50') },
];

let runs = 0;

/** Opens an account, and returns one of the results. */
class AnswerAction extends Action<{ readonly number: number }, unknown> {
  protected perform(_: unknown, { number }: { readonly number: number }): unknown {
    runs += 1;
    this.plan().add(newAccount(new Decimal(1), HERE).build());
    return RESULTS[number];
  }
}

describeOnEachAdapter('Results under keys', (harness) => {
  test.each([
    ['alone', 1],
    ['many in one statement', RESULTS.length],
  ])('are the same for a repeat: %s', async (_, atOnce) => {
    const bank = openBank(await harness.makeShards({ shards: [HERE], migrations: accountMigrations }));
    const registry = new ActionRegistry([
      {
        name: 'Answer',
        actionClass: AnswerAction,
        params: [],
        create: () => new AnswerAction(systemClock),
      },
    ]);
    const executor = new ActionExecutor({ registry, gateways: bank.gateways, models: [] });
    const answer = (number: number): Promise<unknown> =>
      executor.execute(
        ALICE,
        AnswerAction,
        { number },
        ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey(`answer-${number}`).build(),
      );
    const answers = async (): Promise<readonly unknown[]> => {
      const found: unknown[] = [];
      for (let number = 0; number < RESULTS.length; number += atOnce)
        found.push(
          ...(await Promise.all(Array.from({ length: atOnce }, (__, each) => answer(number + each)))),
        );
      return found;
    };
    runs = 0;
    expect(await answers()).toEqual(RESULTS);
    expect(await answers()).toEqual(RESULTS);
    expect(runs).toBe(RESULTS.length);
  });

  test('are sent to repeats that wait, before their executor has closed', async () => {
    const bank = openBank(await harness.makeShards({ shards: [HERE], migrations: accountMigrations }));
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    class WaitAction extends Action<void, string> {
      protected async perform(): Promise<string> {
        await gate;
        return 'first';
      }
    }
    const create = (): WaitAction => new WaitAction(systemClock);
    const registry = new ActionRegistry([{ name: 'Wait', actionClass: WaitAction, params: [], create }]);
    const executor = new ActionExecutor({ registry, gateways: bank.gateways, models: [] });
    const keyed = ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey('wait').build();
    const order: string[] = [];
    const calls = [1, 2].map(async () => {
      order.push(await executor.execute(ALICE, WaitAction, undefined, keyed));
    });
    const closed = executor.close().then(() => order.push('closed'));
    open();
    await Promise.all([...calls, closed]);
    expect(order).toEqual(['first', 'first', 'closed']);
  });
});
