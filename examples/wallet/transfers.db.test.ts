import { type Application, ShardedId } from 'fw-actions';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { until } from '../../runtime/events/test-support/ledger.js';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { TransferGetAction } from './actions/transfer-get-action.js';
import type { Transfer, TransferState } from './models/transfer.js';
import { Wallet } from './models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from './shards.js';
import { assembledWallet, OPERATOR, WalletCalls } from './test-support/wallet-calls.js';

/** Starting embedded databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

describeOnEachAdapter('A transfer', (harness) => {
  let application: Application;
  let calls: WalletCalls;

  beforeEach(async () => {
    application = await assembledWallet(harness);
    calls = new WalletCalls(application);
  });

  afterEach(() => application.events.stop(0));

  const get = ({ id: transferId }: Transfer): Promise<Transfer> =>
    application.executor.execute(OPERATOR, TransferGetAction, { transferId });

  const becomes = (moved: Transfer, state: TransferState): Promise<void> =>
    until(async () => (await get(moved)).state === state);

  test.each([
    ['over shards', 'MX'],
    ['on one shard', 'US'],
  ])('%s takes the money at once and brings it to its destination', async (_, country) => {
    const [source, destination] = [await calls.create('US'), await calls.create(country)];
    const balances = () => Promise.all([source, destination].map((each) => calls.balanceOf(each)));
    const started = await calls.transfer(source, destination.id, '30.25');
    expect(started).toMatchObject({ state: 'INITIATED', currency: 'EUR', version: 1 });
    expect(await balances()).toEqual(['69.75', '100']);
    application.events.start();
    await becomes(started, 'COMPLETED');
    expect(await balances()).toEqual(['69.75', '130.25']);
    expect(await application.sagas.show(started.id.getValue())).toMatchObject({
      ...{ shard: GLOBAL_SHARD, saga: 'TransferSaga', state: 'ENDED', step: 'COMPLETED' },
      ...{ stuck: undefined, failure: undefined },
    });
  });

  test('to an unknown destination is refunded with the reason', async () => {
    const source = await calls.create('US');
    const started = await calls.transfer(source, ShardedId.generate(Wallet, MEXICO_SHARD), 30);
    application.events.start();
    await becomes(started, 'REFUNDED');
    expect((await get(started)).reason).toMatch(/^Wallet .* does not exist$/);
    expect(await calls.balanceOf(source)).toBe('100');
  });
});
