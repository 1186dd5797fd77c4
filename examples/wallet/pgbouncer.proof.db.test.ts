import {
  type Application,
  Decimal,
  ExecutionConfiguration,
  type ExecutionConfigurationBuilder,
  type ShardIdentifier,
} from 'fw-actions';
import { beforeEach, expect, test } from 'vitest';
import { describeThroughPgbouncer } from '../../test/databases/pgbouncer-vitest.js';
import { testServer } from '../../test/databases/vitest.js';
import { WalletTransferAction } from './actions/wallet-transfer-action.js';
import type { Wallet } from './models/wallet.js';
import { MEXICO_SHARD } from './shards.js';
import { sql } from './test-support/served-wallet.js';
import { assembledWallet, OPERATOR, WalletCalls } from './test-support/wallet-calls.js';

const AT_ONCE = 32;
const CALLERS = 8;
const DEPOSITS = 25;

describeThroughPgbouncer('the wallet on two shards through PgBouncer', (harness) => {
  let wallets: Application;
  let calls: WalletCalls;

  beforeEach(async () => {
    wallets = await assembledWallet(harness);
    calls = new WalletCalls(wallets);
  });

  const transfer = (source: Wallet, destination: Wallet, amount: number) =>
    wallets.executor.execute(
      OPERATOR,
      WalletTransferAction,
      { sourceId: source.id, destId: destination.id, amount: new Decimal(amount) },
      settingsOf().allowCrossShard(true).build(),
    );

  test('creates, deposits and transfers, on one shard and over two', async () => {
    const [first, second] = [await calls.create('US'), await calls.create('US')];
    const foreign = await calls.create('MX');
    await calls.deposit(first, '5.5');
    await transfer(first, second, 30);
    await transfer(second, foreign, 1);
    const balances = await Promise.all([first, second, foreign].map((each) => calls.balanceOf(each)));
    expect(balances).toEqual(['75.5', '129', '101']);
  });

  test('a repeat under one key gets the first result, even if the key’s home is another shard', async () => {
    const keyed = (key: string) => settingsOf().idempotencyKey(key).build();
    const made = await Promise.all([1, 2, 3].map(() => calls.create('MX', {}, keyed('k-1'))));
    made.push(await calls.create('MX', {}, keyed('k-1')));
    expect(new Set(made.map(({ id }) => id.getValue())).size).toBe(1);
    const [wallet] = made;
    if (wallet === undefined) throw new Error('No wallet');
    const answers = await Promise.all([1, 2, 3].map(() => calls.deposit(wallet, '5', keyed('k-2'))));
    expect(answers.map(({ version }) => version)).toEqual([2, 2, 2]);
    expect(await calls.balanceOf(wallet)).toBe('105');
  });

  test('concurrent callers on one wallet, and on a wallet each, all succeed', async () => {
    const hot = await calls.create('MX');
    const own = await Promise.all(Array.from({ length: AT_ONCE }, () => calls.create('US')));
    const rounds = [1, 2, 3].map(() =>
      own.flatMap((wallet) => [calls.deposit(hot, '0.1'), calls.deposit(wallet, '0.1')]),
    );
    await Promise.all(rounds.flat());
    expect(await calls.balanceOf(hot)).toBe('109.6');
    expect(new Set(await Promise.all(own.map((each) => calls.balanceOf(each))))).toEqual(new Set(['100.3']));
  });

  test('sessions that the server ends under load lose and repeat no deposit; a close finishes calls in progress', async () => {
    const wallet = await calls.create('MX');
    const patient = () => settingsOf().timeoutMs(60_000).maximumAttempts(100).build();
    let done = 0;
    const callers = Array.from({ length: CALLERS }, async () => {
      for (let count = 0; count < DEPOSITS; count += 1) {
        await calls.deposit(wallet, '1', patient());
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
    expect(await calls.balanceOf(wallet)).toBe(String(100 + CALLERS * DEPOSITS));
    const last = Array.from({ length: CALLERS }, () => calls.deposit(wallet, '1', patient()));
    await wallets.close();
    await Promise.all(last);
    const stored = await onServer(MEXICO_SHARD, 'select balance::int4, version::int4 from wallets');
    const deposits = CALLERS * (DEPOSITS + 1);
    expect(stored).toEqual([[100 + deposits, 1 + deposits]]);
  }, 120_000);

  /** Past PgBouncer. */
  async function onServer(shard: ShardIdentifier, text: string): Promise<unknown> {
    const { url } = wallets.databases.memberConfig(shard).primary;
    if (url.kind !== 'postgresql') throw new Error('A server');
    return sql(testServer(), text, url.database);
  }
});

function settingsOf(): ExecutionConfigurationBuilder {
  return ExecutionConfiguration.Builder.executionConfiguration();
}
