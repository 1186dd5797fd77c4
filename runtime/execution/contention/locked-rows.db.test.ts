import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import { RowBusyError } from '../../errors.js';
import { ALICE, accountMigrations, CreditAction, HERE, openBank } from '../test-support/accounts.js';

describeOn('postgresql', 'A row that another transaction has locked', (harness) => {
  test('is busy and not stale, although the last attempt has no time to wait for it', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: accountMigrations });
    const bank = openBank(databases);
    const account = await bank.open(HERE, 0);
    const credit = () => bank.executor.execute(ALICE, CreditAction, { account, amount: new Decimal(1) });
    // The process knows the row, so that the last attempt reads nothing either.
    await credit();
    const session = await databases.database(HERE).acquire();
    const run = (text: string) => session.query({ text, values: [] });
    await run('begin');
    await run(`select from accounts where id = '${account}' for update`);
    try {
      await expect(credit()).rejects.toThrow(RowBusyError);
    } finally {
      await run('rollback');
      session.release();
    }
    expect(await bank.balance(account)).toBe('1');
  });
});
