import { type Currency, type Decimal, type Id, ModelEvent, type ShardedId } from 'fw-actions';
import { Transfer } from '../models/transfer.js';
import type { Wallet } from '../models/wallet.js';

/** Money has left its source. */
export class TransferInitiatedEvent extends ModelEvent<Transfer> {
  readonly sourceId: ShardedId<Wallet>;
  readonly destinationId: ShardedId<Wallet>;
  readonly amount: Decimal;
  readonly currency: Currency;

  constructor(
    id: Id<Transfer>,
    sourceId: ShardedId<Wallet>,
    destinationId: ShardedId<Wallet>,
    amount: Decimal,
    currency: Currency,
  ) {
    super(id.getValue(), Transfer);
    this.sourceId = sourceId;
    this.destinationId = destinationId;
    this.amount = amount;
    this.currency = currency;
  }
}
