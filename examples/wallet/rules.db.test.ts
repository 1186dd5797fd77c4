import {
  type Application,
  assembleApplication,
  type Caller,
  currency,
  Decimal,
  ExecutionConfiguration,
  ForbiddenError,
  type Uuid,
} from 'fw-actions';
import { beforeEach, expect, test } from 'vitest';
import { PATIENT } from '../../test/databases/patient.js';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { TransferGetAction } from './actions/transfer-get-action.js';
import { TransferInitiateAction } from './actions/transfer-initiate-action.js';
import { WalletCreateAction } from './actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from './actions/wallet-deposit-money-action.js';
import { WalletGetAction } from './actions/wallet-get-action.js';
import { WalletListAction } from './actions/wallet-list-action.js';
import { WalletWithdrawMoneyAction } from './actions/wallet-withdraw-money-action.js';
import { application } from './generated/application.js';
import type { Wallet } from './models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from './shards.js';

const ANAS: Uuid = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const BOBS: Uuid = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a11';
const ANA: Caller = { name: 'ana', claims: { owner: ANAS } };
const BOB: Caller = { name: 'bob', claims: { owner: BOBS } };
const OPERATOR: Caller = { name: 'olivia', claims: { role: 'operator' } };

describeOnEachAdapter('rules of the wallet', (harness) => {
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

  const create = (ownerId: Uuid, country = 'DE', caller = OPERATOR): Promise<Wallet> =>
    wallets.executor.execute(caller, WalletCreateAction, {
      ...{ country, ownerId, currency: currency('EUR'), initialBalance: new Decimal(100) },
    });
  const balanceOf = async ({ id }: Wallet): Promise<string> => {
    const { balance } = await wallets.executor.execute(OPERATOR, WalletGetAction, { walletId: id });
    return balance.toFixed();
  };
  const withdraw = (caller: Caller, { id }: Wallet, key?: string, amount = 10): Promise<Wallet> => {
    const settings = ExecutionConfiguration.Builder.executionConfiguration();
    if (key !== undefined) settings.idempotencyKey(key);
    const params = { walletId: id, amount: new Decimal(amount) };
    return wallets.executor.execute(caller, WalletWithdrawMoneyAction, params, settings.build());
  };

  test('refuse others before any write, even chained behind the owner', async () => {
    const wallet = await create(ANAS);
    const deposit = { walletId: wallet.id, amount: new Decimal(1) };
    const [mine, others, mineAgain] = await Promise.allSettled([
      wallets.executor.execute(ANA, WalletDepositMoneyAction, deposit),
      wallets.executor.execute(BOB, WalletDepositMoneyAction, deposit),
      wallets.executor.execute(ANA, WalletDepositMoneyAction, deposit),
    ]);
    expect([mine.status, mineAgain.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(others).toMatchObject({ status: 'rejected', reason: { code: 'FW_FORBIDDEN' } });
    expect(await balanceOf(wallet)).toBe('102');
    const { executor } = wallets;
    expect(await executor.explain(BOB, WalletDepositMoneyAction, deposit)).toMatchObject({
      verdict: { kind: 'refused', code: 'FW_FORBIDDEN' },
    });
  });

  test('authorize a replay like the first call', async () => {
    const wallet = await create(ANAS);
    const clerk: Caller = { name: 'ana', claims: { role: 'operator' } };
    await withdraw(clerk, wallet, 'rent', 100);
    // The balance is 0 by now; the replay does not depend on it.
    expect((await withdraw(ANA, wallet, 'rent', 100)).balance.toFixed()).toBe('0');
    await expect(withdraw({ name: 'ana' }, wallet, 'rent', 100)).rejects.toThrow(ForbiddenError);
    await expect(withdraw(BOB, wallet, 'rent', 100)).rejects.toThrow(ForbiddenError);
    expect(await balanceOf(wallet)).toBe('0');
  });

  test('filter a list before its page is cut', async () => {
    const owner: Uuid = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a12';
    const mine = [await create(owner), await create(owner, 'MX'), await create(owner)];
    const list = (caller: Caller, cursor?: string) =>
      wallets.executor.execute(caller, WalletListAction, {
        ...{ ownerId: owner, limit: 2 },
        ...(cursor === undefined ? {} : { cursor }),
      });
    const caller: Caller = { name: 'dora', claims: { owner } };
    const first = await list(caller);
    const second = await list(caller, first.next ?? '');
    expect([...first.items, ...second.items].map(({ id }) => id.getValue())).toEqual(
      mine.map(({ id }) => id.getValue()).sort(),
    );
    expect((await list(OPERATOR)).items).toHaveLength(2);
    expect(await list(BOB)).toEqual({ items: [], next: null });
    expect(await list({ name: 'nobody' })).toEqual({ items: [], next: null });
  });

  test('let an owner send money to others, and hide both wallets from strangers', async () => {
    const [source, destination] = [await create(ANAS), await create(BOBS, 'MX')];
    const params = { sourceId: source.id, destinationId: destination.id, amount: new Decimal(5) };
    const { executor } = wallets;
    const transfer = await executor.execute(ANA, TransferInitiateAction, params);
    await expect(executor.execute(BOB, TransferInitiateAction, params)).rejects.toThrow(ForbiddenError);
    const transferId = transfer.id;
    expect((await executor.execute(ANA, TransferGetAction, { transferId })).version).toBe(1);
    await expect(executor.execute(BOB, TransferGetAction, { transferId })).rejects.toThrow(ForbiddenError);
  });
});
