import type { Application } from 'fw-actions';
import type { Statement } from 'fw-actions/operate';
import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { WalletHistoryAction } from './actions/wallet-history-action.js';
import { assembledWallet, OPERATOR, WalletCalls } from './test-support/wallet-calls.js';

describeOnEachAdapter('the wallet on two shards', (harness) => {
  let application: Application;
  let calls: WalletCalls;

  beforeEach(async () => {
    application = await assembledWallet(harness);
    calls = new WalletCalls(application);
  });

  test('creates a wallet and deposits into it in one statement each, once the table is known', async () => {
    await calls.deposit(await calls.create('MX'), 5);
    const statements = countStatements(application);
    const wallet = await calls.create('MX');
    expect(statements.splice(0)).toEqual(['WITH']);
    const after = await calls.deposit(wallet, '0.0001');
    expect(statements).toEqual(['WITH']);
    expect([after.version, after.balance.toString()]).toEqual([2, '100.0001']);
    expect(await calls.get(wallet)).toEqual(after);
  });

  test('the history holds every version once and in order, page by page', async () => {
    const wallet = await calls.create('MX');
    await Promise.all(Array.from({ length: 7 }, () => calls.deposit(wallet, 1)));
    const versions: number[] = [];
    for (let cursor = {}; ; ) {
      const params = { walletId: wallet.id, limit: 3, ...cursor };
      const { items, next } = await application.executor.execute(OPERATOR, WalletHistoryAction, params);
      versions.push(...items.map(({ modelVersion }) => modelVersion));
      if (next === null) break;
      cursor = { cursor: next };
    }
    expect(versions).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

/** Records the first word of every later statement to the shards. */
function countStatements({ databases }: Application): string[] {
  const words: string[] = [];
  for (const shard of databases.shards()) {
    const database = databases.database(shard);
    const query = database.query.bind(database);
    database.query = (statement: Statement, options) => {
      words.push(/^\w+/.exec(statement.text)?.[0] ?? '');
      return query(statement, options);
    };
  }
  return words;
}
