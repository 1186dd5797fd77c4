import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { ActionPlan, type StagedItem } from '../../action/action-plan.js';
import { systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { type Account, accountModel } from '../../domain/test-support/account.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { idOf, openStore, planOf } from '../test-support/plans.js';
import type { PlanWrite } from './plan-write.js';

const HERE = ShardIdentifier.of(0, 0);

type Change = (account: Account) => Account;
const credit: Change = (account) => account.credit(new Decimal(1));
const close: Change = (account) => account.copy().state('GONE').closedBy('bob').build();

/** What becomes of rows that are changed by hand between a plan's reads and its writes. */
const CASES: Readonly<Record<string, readonly (readonly (readonly [string, ...Change[]])[])[]>> = {
  'a single plan': [[['a', credit]]],
  'a single plan that touches two rows': [
    [
      ['a', credit],
      ['b', credit],
    ],
  ],
  'plans that change the same columns, merged': [[['a', credit]], [['b', credit]]],
  'plans that change different columns, merged': [[['a', credit]], [['b', close]], [['c', credit]]],
  'a chain, folded': [[['a', credit, credit, close]]],
  'chains that change different columns, merged': [[['a', credit, credit]], [['b', close, credit]]],
};

describeOnEachAdapter('a row that is changed by hand', (harness) => {
  test('keeps what the action has not changed', async () => {
    const { database, store } = await openStore(harness);
    for (const [number, [title, groups]] of Object.entries(CASES).entries()) {
      // Each case has rows of its own.
      const prefix = 'abcdefgh'.charAt(number);
      const names = groups.flat().map(([name]) => `${prefix}${name}`);
      await store.flush({ groups: names.map((name) => [planOf(`+${name}`)]), locked: 'wait' });
      const read = await store.read(
        accountModel,
        names.map((name) => idOf(name).getValue()),
      );
      await byHand(database, "update accounts set nickname = 'by hand'");
      const find = (name: string): Account | undefined =>
        read.find((model) => model.id.equals(idOf(`${prefix}${name}`)));
      const chains = groups.map((rows) => plansOf(rows, find));
      expect(await store.flush({ groups: chains, locked: 'skip' }), title).toEqual(
        groups.map(() => 'applied'),
      );
      for (const [name, ...changes] of groups.flat()) {
        const [row] = await store.read(accountModel, [idOf(`${prefix}${name}`).getValue()]);
        const closes = changes.includes(close);
        expect({ ...row }, title).toMatchObject({
          nickname: 'by hand',
          version: 1 + changes.length,
          state: closes ? 'GONE' : 'OPEN',
          closedBy: closes ? 'bob' : null,
        });
        expect(row?.balance.toFixed(), title).toBe(
          String(changes.filter((change) => change === credit).length),
        );
      }
    }
  });

  test('makes the plan stale if its version was moved on as well', async () => {
    const { database, store } = await openStore(harness);
    await store.flush({ groups: [[planOf('+a')]], locked: 'wait' });
    const [account] = await store.read(accountModel, [idOf('a').getValue()]);
    await byHand(database, 'update accounts set balance = 7, version = version + 1');
    const groups = [plansOf([['a', credit]], () => account)];
    expect(await store.flush({ groups, locked: 'skip' })).toEqual(['left-out']);
  });
});

async function byHand(database: ShardDatabase, text: string): Promise<void> {
  await database.query({ text, values: [] });
}

/** One plan for each change that a row gets, each on top of the one before. */
function plansOf(
  rows: readonly (readonly [string, ...Change[]])[],
  read: (name: string) => Account | undefined,
): readonly PlanWrite[] {
  const staged: StagedItem[][] = [];
  for (const [name, ...changes] of rows) {
    let model = read(name);
    for (const [index, change] of changes.entries()) {
      if (model === undefined) throw new Error(`${name} is not there`);
      const plan = new ActionPlan(systemClock, HERE);
      model = plan.update(change(model));
      staged[index] = [...(staged[index] ?? []), ...plan.seal()];
    }
  }
  return staged.map((items) => ({ ...planOf(), items }));
}
