import { type Decimal, type Id, ModelEvent } from 'fw-actions';
import { Wallet } from '../models/wallet.js';

/** Money that could not be transferred has come back. */
export class WalletMoneyRefundedEvent extends ModelEvent<Wallet> {
  readonly amount: Decimal;
  readonly newBalance: Decimal;

  constructor(walletId: Id<Wallet>, amount: Decimal, newBalance: Decimal) {
    super(walletId.getValue(), Wallet);
    this.amount = amount;
    this.newBalance = newBalance;
  }
}
