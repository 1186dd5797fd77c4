import {
  type Application,
  assembleApplication,
  CrossShardException,
  currency,
  Decimal,
  ExecutionConfiguration,
  type ExecutionConfigurationBuilder,
  IdempotencyKeyReusedError,
  RefusedError,
  ShardedId,
  ShardIdentifier,
  UnknownShardError,
  ValidationError,
} from 'fw-actions';
import type { Statement } from 'fw-actions/operate';
import { beforeEach, expect, test } from 'vitest';
import { PATIENT } from '../../test/databases/patient.js';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { WalletCreateAction, type WalletCreateParams } from './actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from './actions/wallet-deposit-money-action.js';
import { WalletGetAction } from './actions/wallet-get-action.js';
import { WalletHistoryAction } from './actions/wallet-history-action.js';
import { WalletListAction } from './actions/wallet-list-action.js';
import { WalletTransferAction } from './actions/wallet-transfer-action.js';
import { application } from './generated/application.js';
import { Wallet } from './models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from './shards.js';

const WHO = { name: 'alice', claims: { role: 'operator' } } as const;
const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';

describeOnEachAdapter('the wallet on two shards', (harness) => {
  let wallets: Application;

  beforeEach(async () => {
    const databases = await harness.makeShards({
      shards: [GLOBAL_SHARD, MEXICO_SHARD],
      migrations: application.migrations,
    });
    wallets = assembleApplication(application, databases, {
      namespace: 'test.wallet',
      collaborators: {},
      execution: PATIENT,
      deliver: false,
    });
  });

  const create = (country: string, settings = settingsOf(), params: Partial<WalletCreateParams> = {}) =>
    wallets.executor.execute(
      WHO,
      WalletCreateAction,
      { country, ownerId: OWNER, currency: currency('EUR'), initialBalance: new Decimal(100), ...params },
      settings.build(),
    );

  const deposit = (wallet: Wallet, amount: string | number, settings = settingsOf()) =>
    wallets.executor.execute(
      WHO,
      WalletDepositMoneyAction,
      { walletId: wallet.id, amount: new Decimal(amount) },
      settings.build(),
    );

  const get = (wallet: Wallet) => wallets.executor.execute(WHO, WalletGetAction, { walletId: wallet.id });

  test('creates a wallet and deposits into it in one statement each, once the table is known', async () => {
    await deposit(await create('MX'), 5);
    const statements = countStatements(wallets);
    const wallet = await create('MX');
    expect(statements.splice(0)).toEqual(['WITH']);
    await deposit(wallet, 5);
    expect(statements).toEqual(['WITH']);
  });

  test('keeps the trace context of the caller with each event', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const wallet = await create('MX', settingsOf().traceContext(traceparent));
    await deposit(wallet, 5);
    const text = 'select trace_context from eventlog.events order by position';
    const { rows } = await wallets.databases.database(MEXICO_SHARD).query({ text, values: [] });
    expect(rows).toEqual([[traceparent], [null]]);
  });

  test('the result of a deposit equals the stored wallet', async () => {
    const wallet = await create('US');
    const after = await deposit(wallet, '0.0001');
    expect([after.version, after.balance.toString()]).toEqual([2, '100.0001']);
    expect(await get(wallet)).toEqual(after);
  });

  test('the history holds every version once and in order, page by page', async () => {
    const wallet = await create('MX');
    await Promise.all(Array.from({ length: 7 }, () => deposit(wallet, 1)));
    const versions: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const params = { walletId: wallet.id, limit: 3, ...(cursor === undefined ? {} : { cursor }) };
      const page = await wallets.executor.execute(WHO, WalletHistoryAction, params);
      versions.push(...page.items.map(({ modelVersion }) => modelVersion));
      cursor = page.next;
    }
    expect(versions).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('an owner sees the wallets of both shards, oldest first, without gaps or duplicates', async () => {
    const made: Wallet[] = [];
    for (const country of ['MX', 'US', 'US', 'MX', 'MX']) made.push(await create(country));
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const params = { ownerId: OWNER, limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const page = await wallets.executor.execute(WHO, WalletListAction, params);
      seen.push(...page.items.map(({ id }) => id.getValue()));
      cursor = page.next;
    }
    expect(seen).toEqual(made.map(({ id }) => id.getValue()));
  });

  test('a cursor of another list is refused', async () => {
    await Promise.all(['US', 'US'].map((country) => create(country)));
    const { next } = await wallets.executor.execute(WHO, WalletListAction, { ownerId: OWNER, limit: 1 });
    const other = { ownerId: '00000000-0000-4000-8000-000000000000', cursor: next ?? '' };
    await expect(wallets.executor.execute(WHO, WalletListAction, other)).rejects.toThrow(ValidationError);
  });

  test('a transfer over two shards is refused before any write, unless it is allowed', async () => {
    const [source, destination] = [await create('US'), await create('MX')];
    const params = { sourceId: source.id, destId: destination.id, amount: new Decimal(30) };
    await expect(wallets.executor.execute(WHO, WalletTransferAction, params)).rejects.toThrow(
      CrossShardException,
    );
    expect([await get(source), await get(destination)]).toEqual([source, destination]);
    const allowed = settingsOf().allowCrossShard(true).build();
    await wallets.executor.execute(WHO, WalletTransferAction, params, allowed);
    const balances = [(await get(source)).balance.toString(), (await get(destination)).balance.toString()];
    expect(balances).toEqual(['70', '130']);
  });

  test('an id whose shard is not configured is refused without a query', async () => {
    const statements = countStatements(wallets);
    const walletId = ShardedId.generate(Wallet, ShardIdentifier.of(7, 7));
    await expect(wallets.executor.execute(WHO, WalletGetAction, { walletId })).rejects.toThrow(
      UnknownShardError,
    );
    expect(statements).toEqual([]);
  });

  test('a key with another home than the new wallet’s shard creates one wallet', async () => {
    const keyed = () => settingsOf().idempotencyKey('k-2');
    const made = await Promise.all([1, 2, 3].map(() => create('MX', keyed())));
    made.push(await create('MX', keyed()));
    expect(new Set(made.map(({ id }) => id.getValue())).size).toBe(1);
    await expect(create('US', keyed())).rejects.toThrow(IdempotencyKeyReusedError);
    const { items } = await wallets.executor.execute(WHO, WalletListAction, { ownerId: OWNER });
    expect(items.length).toBe(1);
  });

  test('a refusal is not stored: the same key may succeed later', async () => {
    const wallet = await create('US', settingsOf(), { initialBalance: new Decimal(0) });
    const other = await create('US');
    const keyed = () => settingsOf().idempotencyKey('k-3').build();
    const params = { sourceId: wallet.id, destId: other.id, amount: new Decimal(5) };
    await expect(wallets.executor.execute(WHO, WalletTransferAction, params, keyed())).rejects.toThrow(
      RefusedError,
    );
    await deposit(wallet, 5);
    await wallets.executor.execute(WHO, WalletTransferAction, params, keyed());
    expect((await get(other)).balance.toString()).toBe('105');
  });
});

function settingsOf(): ExecutionConfigurationBuilder {
  return ExecutionConfiguration.Builder.executionConfiguration();
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
