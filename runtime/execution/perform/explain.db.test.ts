import { expect, it } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import { countingRegistry } from '../../sharding/test-support/counting-registry.js';
import {
  ACROSS,
  ALICE,
  CreditAction,
  configure,
  HERE,
  MoveAction,
  makeAccounts,
  openBank,
  type TestBank,
  THERE,
} from '../test-support/accounts.js';

describeOnEachAdapter('An explanation', (harness) => {
  async function setting(): Promise<{ bank: TestBank; sent: readonly string[] }> {
    const registry = await makeAccounts(harness);
    const { registry: counting, counts } = countingRegistry(registry);
    return { bank: openBank(counting), sent: counts.texts };
  }

  const credit = (account: string, amount: number) => ({
    account,
    amount: new Decimal(amount),
    pin: 'secret-pin',
    card: { number: 'a-number', pin: 'secret-pin' },
  });

  /** Every row of every table. */
  async function rows(bank: TestBank): Promise<unknown> {
    const tables = ['accounts', 'eventlog.events', 'eventlog.actions', 'eventlog.journal'];
    return Promise.all(
      [HERE, THERE].flatMap((shard) =>
        tables.map((table) => bank.rows(shard, `select * from ${table} order by 1`)),
      ),
    );
  }

  it('reports shard, statement and events of an action, and that it would write', async () => {
    const { bank } = await setting();
    const account = await bank.open(THERE, 10);
    const explanation = await bank.executor.explain(ALICE, CreditAction, credit(account, 5));
    expect(explanation).toMatchObject({
      action: 'Credit',
      shards: ['(1, 0)'],
      verdict: { kind: 'would-write' },
      parts: [
        {
          shard: '(1, 0)',
          items: [{ kind: 'update', model: 'Account', id: account, expectedVersion: 1 }],
          events: [
            { type: 'AccountCredited', modelName: 'Account', modelId: account, payload: '{"amount":"5"}' },
          ],
        },
      ],
    });
    expect(explanation.parts[0]?.statement.text).toContain('UPDATE "accounts"');
    expect(JSON.stringify(explanation.parts[0]?.statement.values)).toContain(account);
  });

  it('writes nothing and sends only reads', async () => {
    const { bank, sent } = await setting();
    const [here, there] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
    const before = await rows(bank);
    const already = sent.length;
    await bank.executor.explain(ALICE, CreditAction, credit(here, 5));
    const move = { from: here, to: [there], amount: new Decimal(1) };
    await bank.executor.explain(ALICE, MoveAction, move, ACROSS);
    const texts = sent.slice(already);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text).toMatch(/^SELECT /);
    expect(await rows(bank)).toEqual(before);
  });

  it('shows arrays as text', async () => {
    const { bank } = await setting();
    const [from, to] = [await bank.open(HERE, 10), await bank.open(HERE, 5)];
    const params = { from, to: [to], amount: new Decimal(1) };
    const explanation = await bank.executor.explain(ALICE, MoveAction, params);
    const { text, values = [] } = explanation.parts[0]?.statement ?? {};
    expect(text).toContain('::timestamptz[]');
    expect(values.map((value) => typeof value)).toEqual(values.map(() => 'string'));
    expect(values).toContain(`{${from},${to}}`);
  });

  it('reports the actions that it would schedule, without its secrets', async () => {
    const { bank } = await setting();
    const account = await bank.open(THERE, 10);
    const later = { ...credit(account, 5), pin: 'later' };
    const explanation = await bank.executor.explain(ALICE, CreditAction, later);
    expect(explanation.parts).toMatchObject([
      {
        shard: '(1, 0)',
        schedules: [{ id: expect.any(String), action: 'Credit', dueDate: new Date('2030-01-01T00:00:00Z') }],
      },
    ]);
    expect(explanation.parts[0]?.statement.text).toContain('eventlog.schedules');
    expect(JSON.stringify(explanation)).not.toMatch(/later|secret-pin/);
    expect(JSON.stringify(explanation)).toContain('a-number');
  });

  it('reports that nothing is staged', async () => {
    const { bank } = await setting();
    const account = await bank.open(HERE, 10);
    expect(await bank.executor.explain(ALICE, CreditAction, credit(account, 0))).toEqual({
      action: 'Credit',
      shards: [],
      verdict: { kind: 'nothing-staged' },
      parts: [],
    });
  });

  it('reports a refusal by its code, with the staged changes if the plan is refused', async () => {
    const { bank } = await setting();
    const [here, there] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
    expect(await bank.executor.explain(ALICE, CreditAction, credit(here, -1))).toMatchObject({
      verdict: { kind: 'refused', code: 'FW_REFUSED', message: 'Only more' },
      parts: [],
    });
    const move = { from: here, to: [there], amount: new Decimal(1) };
    expect(await bank.executor.explain(ALICE, MoveAction, move)).toMatchObject({
      shards: ['(0, 0)', '(1, 0)'],
      verdict: { kind: 'refused', code: 'FW_CROSS_SHARD' },
      parts: [{ shard: '(0, 0)' }, { shard: '(1, 0)' }],
    });
    expect(await bank.executor.explain(ALICE, MoveAction, move, ACROSS)).toMatchObject({
      verdict: { kind: 'would-write' },
    });
    const keyed = configure().allowCrossShard(true).idempotencyKey('k').build();
    expect(await bank.executor.explain(ALICE, MoveAction, move, keyed)).toMatchObject({
      verdict: { kind: 'refused', code: 'FW_CROSS_SHARD' },
    });
  });
});
