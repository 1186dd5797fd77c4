import { AutoBuilder, type Currency, type Decimal, Model, ShardedId, ValidationError } from 'fw-actions';
import { TransferCompletedEvent } from '../events/transfer-completed-event.js';
import { TransferInitiatedEvent } from '../events/transfer-initiated-event.js';
import { TransferRefundedEvent } from '../events/transfer-refunded-event.js';
import { TransferRejectedEvent } from '../events/transfer-rejected-event.js';
import { TransferBuilder } from '../generated/transfer.js';
import type { Wallet } from './wallet.js';

/** `INITIATED` ends in `COMPLETED`, or in `REFUNDED` through `REFUNDING`. */
export type TransferState = 'INITIATED' | 'COMPLETED' | 'REFUNDING' | 'REFUNDED';

/** Money on its way from one wallet to another, stored on the shard of its source. */
@AutoBuilder
export class Transfer extends Model<Transfer, ShardedId<Transfer>, TransferState> {
  readonly sourceId!: ShardedId<Wallet>;
  readonly destinationId!: ShardedId<Wallet>;
  readonly amount!: Decimal;
  readonly currency!: Currency;
  /** Why it is refunded. */
  readonly reason?: string;

  /** Starts a transfer of money withdrawn from `source`, in its currency. */
  static initiate(
    source: Wallet,
    destinationId: ShardedId<Wallet>,
    amount: Decimal,
    createdDate: Date,
  ): Transfer {
    if (destinationId.equals(source.id)) {
      throw new ValidationError('A transfer needs two wallets', { field: 'destinationId' });
    }
    const { id: sourceId, currency } = source;
    const id = ShardedId.generate(Transfer, sourceId.resolveShardIdentifier());
    return TransferBuilder.transfer()
      .id(id)
      .state('INITIATED')
      .createdDate(createdDate)
      .withInitialVersion()
      .sourceId(sourceId)
      .destinationId(destinationId)
      .amount(amount)
      .currency(currency)
      .withEvent(new TransferInitiatedEvent(id, sourceId, destinationId, amount, currency))
      .build();
  }

  /** The money has arrived. */
  complete(): Transfer {
    return this.copy().state('COMPLETED').withEvent(new TransferCompletedEvent(this.id)).build();
  }

  /** The money must be refunded. */
  reject(reason: string): Transfer {
    const event = new TransferRejectedEvent(this.id, reason);
    return this.copy().state('REFUNDING').reason(reason).withEvent(event).build();
  }

  /** The money has been refunded. */
  refund(): Transfer {
    return this.copy().state('REFUNDED').withEvent(new TransferRefundedEvent(this.id)).build();
  }

  copy(): TransferBuilder {
    return TransferBuilder.copyOf(this);
  }
}
