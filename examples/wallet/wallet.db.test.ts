import { type Application, ExecutionConfiguration } from 'fw-actions';
import type { Statement } from 'fw-actions/operate';
import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { WalletHistoryAction } from './actions/wallet-history-action.js';
import { WalletListAction } from './actions/wallet-list-action.js';
import type { Wallet } from './models/wallet.js';
import { MEXICO_SHARD } from './shards.js';
import { assembledWallet, OPERATOR, WalletCalls } from './test-support/wallet-calls.js';
import { OWNER } from './test-support/wallets.js';

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

  test('keeps the trace context of the caller with each event', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const traced = ExecutionConfiguration.Builder.executionConfiguration().traceContext(traceparent);
    await calls.deposit(await calls.create('MX', {}, traced.build()), 5);
    const text = 'select trace_context from eventlog.events order by position';
    const { rows } = await application.databases.database(MEXICO_SHARD).query({ text, values: [] });
    expect(rows).toEqual([[traceparent], [null]]);
  });

  test('the history holds every version once and in order, page by page', async () => {
    const wallet = await calls.create('MX');
    await Promise.all(Array.from({ length: 7 }, () => calls.deposit(wallet, 1)));
    const items = await allItems((cursor) =>
      application.executor.execute(OPERATOR, WalletHistoryAction, {
        ...{ walletId: wallet.id, limit: 3, ...cursor },
      }),
    );
    expect(items.map(({ modelVersion }) => modelVersion)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('an owner sees the wallets of both shards, oldest first, without gaps or duplicates', async () => {
    const made: Wallet[] = [];
    for (const country of ['MX', 'US', 'US', 'MX', 'MX']) made.push(await calls.create(country));
    const seen = await allItems((cursor) =>
      application.executor.execute(OPERATOR, WalletListAction, { ownerId: OWNER, limit: 2, ...cursor }),
    );
    expect(seen.map(({ id }) => id.getValue())).toEqual(made.map(({ id }) => id.getValue()));
  });
});

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** Reads page after page. */
async function allItems<T>(read: (cursor: { readonly cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Page<T> = await read(cursor === undefined ? {} : { cursor });
    items.push(...page.items);
    cursor = page.next;
  }
  return items;
}

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
