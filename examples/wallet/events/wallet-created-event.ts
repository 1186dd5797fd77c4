import { type Currency, type Decimal, type Id, ModelEvent, type Uuid } from 'fw-actions';
import { Wallet } from '../models/wallet.js';

/** A wallet was opened. */
export class WalletCreatedEvent extends ModelEvent<Wallet> {
  readonly ownerId: Uuid;
  readonly currency: Currency;
  readonly initialBalance: Decimal;

  constructor(id: Id<Wallet>, ownerId: Uuid, currency: Currency, initialBalance: Decimal) {
    super(id.getValue(), Wallet);
    this.ownerId = ownerId;
    this.currency = currency;
    this.initialBalance = initialBalance;
  }
}
