import { Action, type Clock, type Decimal, FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';

export interface TransferRefundParams {
  readonly walletId: ShardedId<Wallet>;
  readonly amount: Decimal;
}

/** Refunds money that could not be transferred, even to a closed wallet. */
@FwAction
export class TransferRefundAction extends Action<TransferRefundParams, void> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, { walletId, amount }: TransferRefundParams): Promise<void> {
    const wallet = await this.#wallets.getById(walletId.getValue());
    this.plan().update(wallet.refund(amount));
  }
}
