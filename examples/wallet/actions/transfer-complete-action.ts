import {
  Action,
  type Clock,
  type Currency,
  type Decimal,
  FwAction,
  type Principal,
  RefusedError,
  type ShardedId,
} from 'fw-actions';
import type { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';

export interface TransferCompleteParams {
  readonly walletId: ShardedId<Wallet>;
  readonly amount: Decimal;
  readonly currency: Currency;
}

/** Deposits transferred money into its destination. */
@FwAction
export class TransferCompleteAction extends Action<TransferCompleteParams, void> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, params: TransferCompleteParams): Promise<void> {
    const { walletId, amount, currency } = params;
    const wallet = await this.#wallets.getById(walletId.getValue());
    if (wallet.currency !== currency) throw new RefusedError('The wallets have different currencies');
    this.plan().update(wallet.deposit(amount));
  }
}
