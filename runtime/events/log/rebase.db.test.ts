import { expect, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { handlerOf, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

/** A shard whose one event was handled, by a process that has stopped. */
async function handled(harness: DatabaseHarness, name: string) {
  const databases = await harness.makeShards({
    shards: [HERE],
    migrations: ledgerMigrations,
    owner: 'rebase',
  });
  const versions: number[] = [];
  const handlers = [handlerOf(name, ({ modelVersion }) => void versions.push(modelVersion))];
  const before = testLedger(databases, { handlers });
  const account = await before.open();
  await before.credit(account);
  before.events.start();
  await until(() => versions.length === 1);
  await before.events.stop();
  return { before, next: () => testLedger(databases, { handlers }), account, versions };
}

describeOnEachAdapter('A rebase', (harness) => {
  test('opens an epoch for an empty log whose checkpoints are ahead of the server’s transaction ids', async () => {
    const { before, next, account, versions } = await handled(harness, 'Ahead');
    // Retention emptied the log before the shard was dumped.
    await before.rows('DELETE FROM eventlog.events');
    await before.rows("UPDATE eventlog.consumers SET transaction_id = '4000000000' WHERE name = 'Ahead'");
    await before.rows("UPDATE eventlog.delivery_epochs SET system_identifier = '1'");
    await before.credit(account);
    const after = next();
    expect(await after.events.rebase()).toMatchObject([{ outcome: 'opened', epoch: 2 }]);
    await after.credit(account);
    after.events.start();
    await until(() => versions.length >= 3);
    expect(versions).toEqual([2, 3, 4]);
  }, 120_000);

  test('delivers events that were written below the current epoch', async () => {
    const { before, next, account, versions } = await handled(harness, 'Below');
    // An epoch that was opened while the sequence of positions was far below it.
    await before.rows(`INSERT INTO eventlog.delivery_epochs (epoch, system_identifier, after_position)
      SELECT 2, system_identifier, 1000 FROM eventlog.delivery_epochs`);
    await before.rows(
      "UPDATE eventlog.consumers SET epoch = 2, transaction_id = '0', position = 0 WHERE name = 'Below'",
    );
    await before.credit(account);
    await before.credit(account);
    const after = next();
    expect(await after.events.rebase()).toMatchObject([{ outcome: 'unchanged', epoch: 2, renumbered: 2 }]);
    await after.credit(account);
    after.events.start();
    await until(() => versions.length >= 4);
    expect(versions).toEqual([2, 3, 4, 5]);
    expect(
      await after.rows('SELECT min(position) > 1000, count(*) FROM eventlog.events WHERE model_version > 2'),
    ).toEqual([[true, '3']]);
  }, 120_000);

  test('leaves the events of earlier epochs to replays, although the checkpoint is at the start of the next', async () => {
    const { before, next, versions } = await handled(harness, 'Earlier');
    await before.rows(`INSERT INTO eventlog.delivery_epochs (epoch, system_identifier, after_position)
      SELECT 2, system_identifier, 1000 FROM eventlog.delivery_epochs`);
    await before.rows("UPDATE eventlog.consumers SET epoch = 2, transaction_id = '0', position = 0");
    expect(await before.events.replay('Earlier', { time: new Date(0) })).toMatchObject([{ shard: HERE }]);
    next().events.start();
    await until(() => versions.length === 2);
    expect(versions).toEqual([2, 2]);
  }, 120_000);
});
