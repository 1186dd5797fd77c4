import { ModelEvent, type ShardedId } from 'fw-actions';
import { Booking } from '../models/booking.js';

/** The rooms of a booking are free again. */
export class BookingReleasedEvent extends ModelEvent<Booking> {
  readonly reason: string;

  constructor(id: ShardedId<Booking>, reason: string) {
    super(id.getValue(), Booking);
    this.reason = reason;
  }
}
