import { ModelEvent, type ShardedId } from 'fw-actions';
import { Booking } from '../models/booking.js';
import type { Member } from '../models/member.js';

/** Rooms are held for a member. */
export class BookingHeldEvent extends ModelEvent<Booking> {
  readonly memberId: ShardedId<Member>;
  readonly until: Date;

  constructor(id: ShardedId<Booking>, memberId: ShardedId<Member>, until: Date) {
    super(id.getValue(), Booking);
    this.memberId = memberId;
    this.until = until;
  }
}
