import { type Decimal, ModelEvent, type ShardedId } from 'fw-actions';
import type { BookingConfirmedEventUpcasters } from '../generated/versions.js';
import { Booking } from '../models/booking.js';
import type { Member } from '../models/member.js';

/**
 * A booking is paid.
 * @version 2
 */
export class BookingConfirmedEvent extends ModelEvent<Booking> {
  /** Version 1 had cents. */
  static readonly upcasters: BookingConfirmedEventUpcasters = [
    ({ cents, ...rest }) => ({ ...rest, total: String(Number(cents) / 100) }),
  ];

  readonly memberId: ShardedId<Member>;
  readonly total: Decimal;

  constructor(id: ShardedId<Booking>, memberId: ShardedId<Member>, total: Decimal) {
    super(id.getValue(), Booking);
    this.memberId = memberId;
    this.total = total;
  }
}
