import { expect, test } from 'vitest';
import { APPLICATION_ROLE, ownersDatabase } from '../../../test/databases/roles.js';
import { describeOn } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { whileHeld } from '../../sharding/test-support/statements.js';
import { handlerOf, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

describeOn('postgresql', 'A role that may only insert into the outbox', (harness) => {
  test('delivers, parks, resumes and replays', async () => {
    const databases = await harness.makeShards({
      shards: [HERE],
      migrations: ledgerMigrations,
      role: 'application',
    });
    const asRole = (text: string): Promise<unknown> => databases.database(HERE).query({ text, values: [] });
    expect(await asRole('SELECT current_user')).toMatchObject({ rows: [[APPLICATION_ROLE]] });
    let broken = true;
    const versions: number[] = [];
    const ledger = testLedger(databases, {
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
    for (const forbidden of [
      'UPDATE eventlog.events SET model_id = model_id',
      'DELETE FROM eventlog.events',
      'CREATE TABLE eventlog.another ()',
      'DELETE FROM accounts',
    ])
      await expect(asRole(forbidden)).rejects.toMatchObject({ sqlState: '42501' });
  });

  test('reads the age of the events that a transaction of another role holds back', async () => {
    const databases = await harness.makeShards({
      shards: [HERE],
      migrations: ledgerMigrations,
      role: 'application',
    });
    const ledger = testLedger(databases);
    const account = await ledger.open();
    await whileHeld(ownersDatabase(databases, HERE), 'select pg_current_xact_id()', async () => {
      await ledger.credit(account);
      await until(async () => ((await ledger.events.lag())[0]?.horizon.ageMs ?? 0) > 300);
      const [lag] = await ledger.events.lag();
      const unseen = { kind: 'transaction', ageMs: undefined };
      expect(lag?.horizon.holders).toContainEqual(expect.objectContaining(unseen));
    });
  });
});
