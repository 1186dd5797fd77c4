import { expect, test, vi } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { ExecutionConfiguration } from '../../action/execution-configuration.js';
import { Decimal } from '../../domain/decimal.js';
import { RowBusyError } from '../../errors.js';
import { ALICE, accountMigrations, CreditAction, HERE, openBank } from '../test-support/accounts.js';

describeOn('postgresql', 'A row that another transaction has locked', (harness) => {
  test('is busy and not stale, although the attempt has no time to wait for it', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: accountMigrations });
    const config = databases.memberConfig(HERE);
    const primary = { ...config.primary, lockTimeoutMs: 3_600_000 };
    vi.spyOn(databases, 'memberConfig').mockReturnValue({ ...config, primary });
    const bank = openBank(databases);
    const account = await bank.open(HERE, 0);
    const once = ExecutionConfiguration.Builder.executionConfiguration().maximumAttempts(1).build();
    const credit = () =>
      bank.executor.execute(ALICE, CreditAction, { account, amount: new Decimal(1) }, once);
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
