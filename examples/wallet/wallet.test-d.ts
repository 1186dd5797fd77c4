import { type ActionExecutor, type Caller, currency, Decimal, type Id, ShardedId } from 'fw-actions';
import { expectTypeOf } from 'vitest';
import { WalletDepositMoneyAction } from './actions/wallet-deposit-money-action.js';
import { WalletTransferAction } from './actions/wallet-transfer-action.js';
import { WalletBuilder } from './generated/wallet.js';
import { Wallet } from './models/wallet.js';
import { MEXICO_SHARD } from './shards.js';

declare const executor: ActionExecutor;
declare const wallet: Wallet;
const amount = new Decimal(1);
const principal: Caller = () => 'alice';

// Code that accepts an `Id<Wallet>` accepts a sharded id.
expectTypeOf(wallet.id).toEqualTypeOf<ShardedId<Wallet>>();
expectTypeOf<ShardedId<Wallet>>().toExtend<Id<Wallet>>();
expectTypeOf(wallet.deposit(amount)).toEqualTypeOf<Wallet>();

const deposited = executor.execute(principal, WalletDepositMoneyAction, { walletId: wallet.id, amount });
expectTypeOf(deposited).toEqualTypeOf<Promise<Wallet>>();
const transferred = executor.execute(principal, WalletTransferAction, {
  sourceId: wallet.id,
  destId: wallet.id,
  amount,
});
expectTypeOf(transferred).toEqualTypeOf<Promise<void>>();

// @ts-expect-error a wallet comes from its builder
new Wallet();

const opened = WalletBuilder.wallet()
  .id(ShardedId.generate(Wallet, MEXICO_SHARD))
  .state('OPENED')
  .createdDate(new Date())
  .withInitialVersion()
  .ownerId('6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10')
  .currency(currency('MXN'));
expectTypeOf(opened.balance(amount).build()).toEqualTypeOf<Wallet>();
// @ts-expect-error the balance is missing
opened.build();
// @ts-expect-error a text is not a currency until `currency` has checked it
opened.currency('MXN');
