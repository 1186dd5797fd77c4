import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { handlerOf, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

describeOnEachAdapter('A transactional handler', (harness) => {
  test('has caught up after a page that ends with events that it does not select', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const handled: number[] = [];
    const handler = handlerOf('Copy', ({ modelVersion }) => void handled.push(modelVersion), {
      transactional: true,
    });
    const ledger = testLedger(databases, { handlers: [handler] });
    const account = await ledger.open();
    for (let nr = 0; nr < 3; nr += 1) await ledger.credit(account);
    await ledger.rows("UPDATE eventlog.events SET event_type = 'Other' WHERE model_version > 2");
    ledger.events.start();
    await until(async () => (await ledger.events.lag())[0]?.consumers[0]?.behind === 0);
    expect(handled).toEqual([2]);
  });
});
