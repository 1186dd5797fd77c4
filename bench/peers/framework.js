import { randomUUID } from 'node:crypto';
import { built, openWallet } from '../lib/product.js';

/**
 * `execute(principal, WalletDepositMoneyAction, ...)` with all defaults.
 *
 * @param isKeyed whether each deposit has an idempotency key of its own
 */
export async function open({ connection, shape, isKeyed }) {
  const { Decimal, ExecutionConfiguration, ShardedId } = await built('runtime/index.js');
  const { WalletDepositMoneyAction } = await built('examples/wallet/actions/wallet-deposit-money-action.js');
  const { Wallet } = await built('examples/wallet/models/wallet.js');
  const wallet = await openWallet(connection, shape);
  const principal = { name: 'bench', claims: { role: 'operator' } };
  const { executionConfiguration } = ExecutionConfiguration.Builder;
  const underKey = () => executionConfiguration().idempotencyKey(randomUUID()).build();
  return {
    deposit: (id, amount) =>
      wallet.executor.execute(
        principal,
        WalletDepositMoneyAction,
        { walletId: ShardedId.of(Wallet, id), amount: new Decimal(amount) },
        isKeyed ? underKey() : undefined,
      ),
    close: () => wallet.close(),
  };
}
