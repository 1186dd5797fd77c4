import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import type { EventDescriptor } from '../../domain/descriptor.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { creditedEvent, handlerOf, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

/** The event in a later release: it has another name, and amounts are a hundred times as large. */
const laterEvent: EventDescriptor = {
  ...creditedEvent,
  name: 'AccountIncreased',
  aliases: ['AccountCredited'],
  version: 2,
  upcasters: [({ amount }) => ({ amount: String(Number(amount) * 100) })],
};

describeOn('postgresql', 'An event of an older version and an earlier name', (harness) => {
  test('is upcast to the current version in delivery, in the retry of a dead letter and in a replay', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const failing = handlerOf(
      'Amounts',
      () => {
        throw new Error('not yet');
      },
      { maximumAttempts: 1 },
    );
    const before = testLedger(databases, { handlers: [failing] });
    await before.credit(await before.open(), 7);
    before.events.start();
    await until(async () => (await before.events.deadLetters.list()).length === 1);
    await before.events.stop();
    await before.credit(await before.open(), 8);

    const amounts: string[] = [];
    const later = testLedger(databases, {
      handlers: [
        handlerOf('Amounts', ({ event }) => void amounts.push(event.amount.toFixed()), { event: laterEvent }),
      ],
    });
    later.events.start();
    await until(() => amounts.length === 1);
    await later.events.deadLetters.retry({});
    await until(async () => (await later.events.deadLetters.list()).length === 0);
    expect(amounts).toEqual(['800', '700']);
    await later.events.replay('Amounts', { time: new Date(0) });
    await until(() => amounts.length === 4);
    expect(amounts.slice(2).sort()).toEqual(['700', '800']);
  });
});
