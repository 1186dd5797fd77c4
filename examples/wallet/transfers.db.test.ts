import {
  type Application,
  assembleApplication,
  currency,
  Decimal,
  ModelNotFoundError,
  RefusedError,
  ShardedId,
  ValidationError,
} from 'fw-actions';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { until } from '../../runtime/events/test-support/ledger.js';
import { PATIENT } from '../../test/databases/patient.js';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { TransferGetAction } from './actions/transfer-get-action.js';
import { TransferInitiateAction } from './actions/transfer-initiate-action.js';
import { WalletCloseAction } from './actions/wallet-close-action.js';
import { WalletCreateAction } from './actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from './actions/wallet-deposit-money-action.js';
import { WalletGetAction } from './actions/wallet-get-action.js';
import { application } from './generated/application.js';
import type { Transfer, TransferState } from './models/transfer.js';
import { Wallet } from './models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from './shards.js';

/** Starting embedded databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const WHO = { name: 'alice', claims: { role: 'operator' } } as const;
const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
/** Maximum balance. */
const FULL = '999999999999999.9999';

describeOnEachAdapter('A transfer', (harness) => {
  let wallets: Application;

  beforeEach(async () => {
    const { migrations } = application;
    const databases = await harness.makeShards({ shards: [GLOBAL_SHARD, MEXICO_SHARD], migrations });
    wallets = assembleApplication(application, databases, {
      namespace: 'test.wallet',
      collaborators: {},
      execution: PATIENT,
      deliver: false,
      warn: () => {},
    });
  });

  afterEach(() => wallets.events.stop(0));

  const create = (country: string, balance: string, code = 'EUR'): Promise<Wallet> => {
    const params = {
      country,
      ownerId: OWNER,
      currency: currency(code),
      initialBalance: new Decimal(balance),
    };
    return wallets.executor.execute(WHO, WalletCreateAction, params);
  };

  const close = ({ id: walletId }: Wallet): Promise<Wallet> =>
    wallets.executor.execute(WHO, WalletCloseAction, { walletId });

  const transfer = (source: Wallet, destinationId: ShardedId<Wallet>, amount: string): Promise<Transfer> =>
    wallets.executor.execute(WHO, TransferInitiateAction, {
      sourceId: source.id,
      destinationId,
      amount: new Decimal(amount),
    });

  const get = ({ id: transferId }: Transfer): Promise<Transfer> =>
    wallets.executor.execute(WHO, TransferGetAction, { transferId });

  const balanceOf = async ({ id: walletId }: Wallet): Promise<string> =>
    (await wallets.executor.execute(WHO, WalletGetAction, { walletId })).balance.toString();

  const becomes = (moved: Transfer, state: TransferState): Promise<void> =>
    until(async () => (await get(moved)).state === state);

  test.each([
    ['over shards', 'MX'],
    ['on one shard', 'US'],
  ])('%s takes the money at once and brings it to its destination', async (_, country) => {
    const [source, destination] = [await create('US', '100'), await create(country, '5')];
    const started = await transfer(source, destination.id, '30.25');
    expect(started).toMatchObject({ state: 'INITIATED', currency: 'EUR', version: 1 });
    expect([await balanceOf(source), await balanceOf(destination)]).toEqual(['69.75', '5']);
    wallets.events.start();
    await becomes(started, 'COMPLETED');
    expect([await balanceOf(source), await balanceOf(destination)]).toEqual(['69.75', '35.25']);
    expect(await wallets.sagas.show(started.id.getValue())).toMatchObject({
      shard: GLOBAL_SHARD,
      saga: 'TransferSaga',
      state: 'ENDED',
      step: 'COMPLETED',
      stuck: undefined,
      failure: undefined,
    });
  });

  test.each([
    ['a closed destination', async () => (await close(await create('MX', '0'))).id, 'Wallet is closed'],
    [
      'an unknown destination',
      async () => ShardedId.generate(Wallet, MEXICO_SHARD),
      /^Wallet .* does not exist$/,
    ],
    [
      'another currency',
      async () => (await create('MX', '0', 'MXN')).id,
      'The wallets have different currencies',
    ],
  ])('to %s is refunded with the reason', async (_, destination, reason) => {
    const source = await create('US', '100');
    const started = await transfer(source, await destination(), '30');
    wallets.events.start();
    await becomes(started, 'REFUNDED');
    expect((await get(started)).reason).toEqual(
      typeof reason === 'string' ? reason : expect.stringMatching(reason),
    );
    expect(await balanceOf(source)).toBe('100');
  });

  test('is refunded to a wallet that was closed meanwhile', async () => {
    const source = await create('US', '30');
    const started = await transfer(source, ShardedId.generate(Wallet, MEXICO_SHARD), '30');
    await close(source);
    wallets.events.start();
    await becomes(started, 'REFUNDED');
    expect(await balanceOf(source)).toBe('30');
  });

  test('whose source refuses it is refused at once, and nothing is stored', async () => {
    const [source, closed] = [await create('US', '10'), await close(await create('US', '0'))];
    const destination = ShardedId.generate(Wallet, MEXICO_SHARD);
    await expect(transfer(source, destination, '10.01')).rejects.toThrow(
      new RefusedError('Insufficient balance'),
    );
    await expect(transfer(closed, destination, '1')).rejects.toThrow(new RefusedError('Wallet is closed'));
    await expect(transfer(source, destination, '0')).rejects.toThrow(ValidationError);
    await expect(transfer(source, source.id, '1')).rejects.toThrow('A transfer needs two wallets');
    const unknown = { ...source, id: ShardedId.generate(Wallet, GLOBAL_SHARD) };
    await expect(transfer(unknown as Wallet, destination, '1')).rejects.toThrow(ModelNotFoundError);
    expect((await wallets.sagas.list()).items).toEqual([]);
    expect(await wallets.events.schedules.list()).toEqual([]);
  });

  test('is parked and listed when its refund fails, and continues after a retry', async () => {
    const source = await create('US', FULL);
    const started = await transfer(source, ShardedId.generate(Wallet, MEXICO_SHARD), '1');
    const one = { walletId: source.id, amount: new Decimal(1) };
    await wallets.executor.execute(WHO, WalletDepositMoneyAction, one);
    wallets.events.start();
    await until(async () => (await wallets.sagas.list({ stuck: true })).items.length === 1);
    const [parked] = (await wallets.sagas.list({ state: 'PARKED' })).items;
    expect(parked).toMatchObject({
      id: started.id.getValue(),
      step: 'REFUNDING',
      stuck: 'parked',
      failure: { code: 'FW_VALIDATION', message: expect.stringContaining('balance') },
    });
    await transfer(source, (await create('MX', '0')).id, '1');
    expect(await wallets.sagas.retry({ name: 'operator' }, started.id.getValue())).toBe(true);
    await becomes(started, 'REFUNDED');
    expect((await wallets.sagas.list({ stuck: true })).items).toEqual([]);
    expect(await wallets.sagas.retry({ name: 'operator' }, started.id.getValue())).toBe(false);
  });
});
