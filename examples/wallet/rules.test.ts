import { Decimal, ForbiddenError, ShardedId } from 'fw-actions';
import { describe, test } from 'vitest';
import { WalletCreateAction } from './actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from './actions/wallet-deposit-money-action.js';
import { WalletGetAction } from './actions/wallet-get-action.js';
import { WalletWithdrawMoneyAction } from './actions/wallet-withdraw-money-action.js';
import { Wallet } from './models/wallet.js';
import { GLOBAL_SHARD } from './shards.js';
import { OWNER, specs, storedWallet } from './test-support/wallets.js';

const OWNER_OF_IT = { name: 'ana', claims: { owner: OWNER } } as const;
const STRANGER = { name: 'bob', claims: { owner: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a11' } } as const;
const WITHOUT_CLAIMS = { name: 'carl' };
const amount = new Decimal(5);

describe('the money of a wallet', () => {
  test.each([
    ['its owner', OWNER_OF_IT],
    ['an operator', { name: 'olivia', claims: { role: 'operator' } } as const],
  ])('is seen and moved by %s', async (_, caller) => {
    const wallet = storedWallet();
    await specs
      .action(WalletGetAction)
      .as(caller)
      .given(wallet)
      .when({ walletId: wallet.id })
      .thenReturns({});
    const deposit = specs.action(WalletDepositMoneyAction).as(caller).given(wallet);
    await deposit.when({ walletId: wallet.id, amount }).thenUpdated(Wallet, { balance: new Decimal(105) });
  });

  test.each([
    ['another owner', STRANGER],
    ['a caller without claims', WITHOUT_CLAIMS],
  ])('is neither seen nor moved by %s', async (_, caller) => {
    const wallet = storedWallet();
    const refused = /^(bob|carl) may not run Wallet\w+Action on this$/;
    await specs
      .action(WalletGetAction)
      .as(caller)
      .given(wallet)
      .when({ walletId: wallet.id })
      .thenFails(ForbiddenError, refused);
    const withdraw = specs.action(WalletWithdrawMoneyAction).as(caller).given(wallet);
    await withdraw.when({ walletId: wallet.id, amount }).thenFails(ForbiddenError, refused);
    // The refusal reveals neither the balance nor the state of the wallet.
    await withdraw
      .when({ walletId: wallet.id, amount: new Decimal(1_000) })
      .thenFails(ForbiddenError, refused);
    await withdraw.when({ walletId: wallet.id, amount: new Decimal(-1) }).thenFails(ForbiddenError, refused);
  });

  test('equals that of a wallet that does not exist', async () => {
    const walletId = ShardedId.generate(Wallet, GLOBAL_SHARD);
    await specs.action(WalletGetAction).as(STRANGER).when({ walletId }).thenFails(ForbiddenError);
  });

  test('can only be deposited into the caller’s wallets', async () => {
    const params = { country: 'DE', ownerId: OWNER, currency: storedWallet().currency };
    const create = specs.action(WalletCreateAction);
    await create.as(OWNER_OF_IT).when(params).thenAdded(Wallet, { ownerId: OWNER });
    await create.as(STRANGER).when(params).thenFails(ForbiddenError);
  });
});
