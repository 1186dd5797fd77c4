import {
  type Application,
  assembleApplication,
  currency,
  Decimal,
  ExecutionConfiguration,
  type ExecutionConfigurationBuilder,
  type ShardIdentifier,
} from 'fw-actions';
import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { PATIENT } from '../../test/databases/patient.js';
import { describeThroughPgbouncer } from '../../test/databases/pgbouncer-vitest.js';
import { testServer } from '../../test/databases/vitest.js';
import { WalletCreateAction } from './actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from './actions/wallet-deposit-money-action.js';
import { WalletGetAction } from './actions/wallet-get-action.js';
import { WalletTransferAction } from './actions/wallet-transfer-action.js';
import { application } from './generated/application.js';
import type { Wallet } from './models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from './shards.js';

const WHO = { name: 'alice', claims: { role: 'operator' } } as const;
const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const AT_ONCE = 32;
const CALLERS = 8;
const DEPOSITS = 25;

describeThroughPgbouncer('the wallet on two shards through PgBouncer', (harness) => {
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

  const create = (country: string, settings = settingsOf()) =>
    wallets.executor.execute(
      WHO,
      WalletCreateAction,
      { country, ownerId: OWNER, currency: currency('EUR'), initialBalance: new Decimal(100) },
      settings.build(),
    );

  const deposit = (wallet: Wallet, amount: string, settings = settingsOf()) =>
    wallets.executor.execute(
      WHO,
      WalletDepositMoneyAction,
      { walletId: wallet.id, amount: new Decimal(amount) },
      settings.build(),
    );

  const transfer = (source: Wallet, destination: Wallet, amount: number) =>
    wallets.executor.execute(
      WHO,
      WalletTransferAction,
      { sourceId: source.id, destId: destination.id, amount: new Decimal(amount) },
      settingsOf().allowCrossShard(true).build(),
    );

  const balanceOf = async (wallet: Wallet): Promise<string> =>
    (await wallets.executor.execute(WHO, WalletGetAction, { walletId: wallet.id })).balance.toString();

  test('creates, deposits and transfers, on one shard and over two', async () => {
    const [first, second, foreign] = [await create('US'), await create('US'), await create('MX')];
    await deposit(first, '5.5');
    await transfer(first, second, 30);
    await transfer(second, foreign, 1);
    expect(await Promise.all([first, second, foreign].map(balanceOf))).toEqual(['75.5', '129', '101']);
  });

  test('a repeat under one key gets the first result, even if the key’s home is another shard', async () => {
    const keyed = (key: string) => settingsOf().idempotencyKey(key);
    const made = await Promise.all([1, 2, 3].map(() => create('MX', keyed('k-1'))));
    made.push(await create('MX', keyed('k-1')));
    expect(new Set(made.map(({ id }) => id.getValue())).size).toBe(1);
    const [wallet] = made;
    if (wallet === undefined) throw new Error('No wallet');
    const answers = await Promise.all([1, 2, 3].map(() => deposit(wallet, '5', keyed('k-2'))));
    expect(answers.map(({ version }) => version)).toEqual([2, 2, 2]);
    expect(await balanceOf(wallet)).toBe('105');
  });

  test('concurrent callers on one wallet, and on a wallet each, all succeed', async () => {
    const hot = await create('MX');
    const own = await Promise.all(Array.from({ length: AT_ONCE }, () => create('US')));
    const rounds = [1, 2, 3].map(() =>
      own.flatMap((wallet) => [deposit(hot, '0.1'), deposit(wallet, '0.1')]),
    );
    await Promise.all(rounds.flat());
    expect(await balanceOf(hot)).toBe('109.6');
    expect(new Set(await Promise.all(own.map(balanceOf)))).toEqual(new Set(['100.3']));
  });

  test('callers of two executors change one wallet, and no deposit is lost', async () => {
    const wallet = await create('US');
    // The second application shares only the databases with the first, as another process would.
    const other = assembleApplication(application, wallets.databases, {
      namespace: 'test.wallet',
      collaborators: {},
      execution: PATIENT,
      deliver: false,
    });
    const params = { walletId: wallet.id, amount: new Decimal('0.5') };
    const settings = settingsOf().timeoutMs(10_000).maximumAttempts(50).build();
    const deposits = [wallets, other].flatMap(({ executor }) =>
      Array.from({ length: AT_ONCE / 2 }, () =>
        executor.execute(WHO, WalletDepositMoneyAction, params, settings),
      ),
    );
    await Promise.all(deposits);
    expect(await balanceOf(wallet)).toBe('116');
  });

  test('sessions that the server ends under load lose and repeat no deposit; a close finishes calls in progress', async () => {
    const wallet = await create('MX');
    const patient = () => settingsOf().timeoutMs(60_000).maximumAttempts(100);
    let done = 0;
    const callers = Array.from({ length: CALLERS }, async () => {
      for (let count = 0; count < DEPOSITS; count += 1) {
        await deposit(wallet, '1', patient());
        done += 1;
      }
    });
    for (const part of [0.1, 0.4, 0.7]) {
      await expect
        .poll(() => done, { timeout: 60_000, interval: 1 })
        .toBeGreaterThan(part * CALLERS * DEPOSITS);
      const ended =
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
      await onServer(MEXICO_SHARD, ended);
    }
    await Promise.all(callers);
    expect(await balanceOf(wallet)).toBe(String(100 + CALLERS * DEPOSITS));
    const last = Array.from({ length: CALLERS }, () => deposit(wallet, '1', patient()));
    await wallets.close();
    await Promise.all(last);
    const stored = await onServer(MEXICO_SHARD, 'select balance::int4, version::int4 from wallets');
    const deposits = CALLERS * (DEPOSITS + 1);
    expect(stored).toEqual([[100 + deposits, 1 + deposits]]);
  }, 120_000);

  /** Past PgBouncer. */
  async function onServer(shard: ShardIdentifier, text: string): Promise<readonly unknown[]> {
    const { url } = wallets.databases.memberConfig(shard).primary;
    if (url.kind !== 'postgresql') throw new Error('A server');
    const client = new pg.Client({ ...testServer(), database: url.database });
    await client.connect();
    try {
      return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
    } finally {
      await client.end();
    }
  }
});

function settingsOf(): ExecutionConfigurationBuilder {
  return ExecutionConfiguration.Builder.executionConfiguration();
}
