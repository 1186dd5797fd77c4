import { expect, test } from 'vitest';
import { postgresAdapter } from '../databases.js';
import { HERE } from '../execution/test-support/accounts.js';
import { DatabaseRegistry } from '../sharding/database-registry.js';
import { testDataSource, topologyOf } from '../testing/databases-topology.js';
import { describeOn } from '../testing/databases-vitest.js';
import { handlerOf, ledgerMigrations, openLedger, until } from './test-support/ledger.js';

/** What docs/events.md gives to the application's role. */
const GRANTS = `
grant usage on schema eventlog, public to fw_app_test;
grant select, insert on eventlog.events, eventlog.actions to fw_app_test;
grant select on eventlog.shard, eventlog.dropped_partitions to fw_app_test;
grant select, insert, update, delete on eventlog.idempotency_keys, eventlog.journal, eventlog.locks, eventlog.consumers,
  eventlog.delivery_processes, eventlog.dead_letters, eventlog.schedules to fw_app_test;
grant select, insert on eventlog.delivery_epochs to fw_app_test;
grant select, insert, update on eventlog.timelines to fw_app_test;
grant select, insert, update on accounts, seen to fw_app_test;
`;

describeOn('postgresql', 'A role that may only insert into the outbox', (harness) => {
  test('delivers, parks, resumes and replays', async () => {
    const owner = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const session = await owner.database(HERE).acquire();
    await session.script(
      `drop role if exists fw_app_test; create role fw_app_test login password 'fw_app_test'; ${GRANTS}`,
    );
    const { url } = owner.memberConfig(HERE).primary;
    const source = testDataSource(url, { user: 'fw_app_test', password: 'fw_app_test' });
    const databases = new DatabaseRegistry(topologyOf([[HERE, source]]), { adapters: [postgresAdapter] });
    let broken = true;
    const versions: number[] = [];
    const ledger = openLedger(databases, {
      handlers: [
        handlerOf(
          'Least',
          ({ modelVersion }) => {
            if (broken) throw new Error('broken');
            versions.push(modelVersion);
          },
          { maximumAttempts: 1 },
        ),
        handlerOf(
          'Copy',
          async ({ transaction }) => void (await transaction.query({ text: 'SELECT 1', values: [] })),
          {
            transactional: true,
          },
        ),
      ],
    });
    try {
      ledger.events.start();
      const account = await ledger.open();
      await ledger.credit(account);
      await until(async () => (await ledger.events.deadLetters.list()).length === 1);
      broken = false;
      await ledger.events.deadLetters.retry({});
      await until(() => versions.length === 1);
      await ledger.credit(account);
      await until(() => versions.length === 2);
      await until(
        async () => (await ledger.events.lag())[0]?.consumers.every(({ behind }) => behind === 0) === true,
      );
      await ledger.events.replay('Least', { time: new Date(0) });
      await until(() => versions.length === 4);
      await ledger.creditLater(account, 1, new Date());
      await until(() => versions.length === 5);
      await expect(ledger.rows('UPDATE eventlog.events SET model_id = model_id')).rejects.toMatchObject({
        sqlState: '42501',
      });
    } finally {
      await ledger.events.stop();
      await databases.close(0);
      await session.script('drop owned by fw_app_test; drop role fw_app_test');
      session.release();
    }
  });
});
