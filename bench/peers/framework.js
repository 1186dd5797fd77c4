import { built, openWallet } from '../lib/product.js';

/** `execute(principal, WalletDepositMoneyAction, ...)` with all defaults. */
export async function open({ connection, shape }) {
  const { Decimal, ShardedId } = await built('runtime/index.js');
  const { WalletDepositMoneyAction } = await built('examples/wallet/actions/wallet-deposit-money-action.js');
  const { Wallet } = await built('examples/wallet/models/wallet.js');
  const wallet = await openWallet(connection, shape);
  const principal = { name: 'bench', claims: { role: 'operator' } };
  return {
    deposit: (id, amount) =>
      wallet.executor.execute(principal, WalletDepositMoneyAction, {
        walletId: ShardedId.of(Wallet, id),
        amount: new Decimal(amount),
      }),
    close: () => wallet.close(),
  };
}
