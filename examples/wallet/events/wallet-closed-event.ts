import { type Id, ModelEvent } from 'fw-actions';
import { Wallet } from '../models/wallet.js';

/** A wallet was closed for good. */
export class WalletClosedEvent extends ModelEvent<Wallet> {
  constructor(walletId: Id<Wallet>) {
    super(walletId.getValue(), Wallet);
  }
}
