import { AutoBuilder, type Decimal, Model, ShardedId } from 'fw-actions';
import { PaymentMovedEvent } from '../events/payment-moved-event.js';
import { PaymentBuilder } from '../generated/payment.js';
import type { Booking } from './booking.js';
import type { Member } from './member.js';

/** `CHARGING`, `CONFIRMING`, `PAID`; or `REFUSED` through `REFUNDING` and `RELEASING`. */
export type PaymentState = 'CHARGING' | 'CONFIRMING' | 'PAID' | 'REFUNDING' | 'RELEASING' | 'REFUSED';

/** The payment of a booking with its member's credit: the state of a saga, on the shard of the booking. */
@AutoBuilder
export class Payment extends Model<Payment, ShardedId<Payment>, PaymentState> {
  readonly bookingId!: ShardedId<Booking>;
  readonly memberId!: ShardedId<Member>;
  readonly amount!: Decimal;
  readonly reason?: string;

  static of({ id: bookingId, memberId, total }: Booking, createdDate: Date): Payment {
    const id = ShardedId.generate(Payment, bookingId.resolveShardIdentifier());
    return PaymentBuilder.payment()
      .id(id)
      .state('CHARGING')
      .withInitialVersion()
      .createdDate(createdDate)
      .bookingId(bookingId)
      .memberId(memberId)
      .amount(total)
      .withEvent(new PaymentMovedEvent(id, 'CHARGING'))
      .build();
  }

  /** Moves to another state. */
  to(state: PaymentState, reason: string | undefined = this.reason): Payment {
    return PaymentBuilder.copyOf(this)
      .state(state)
      .reason(reason)
      .withEvent(new PaymentMovedEvent(this.id, state))
      .build();
  }
}
