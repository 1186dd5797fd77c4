import { Action, type Clock, FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { BookingRepository } from '../generated/booking.js';
import type { Booking } from '../models/booking.js';

export interface BookingConfirmParams {
  readonly bookingId: ShardedId<Booking>;
}

/** Confirms a paid booking. A step of the payment. */
@FwAction
export class BookingConfirmAction extends Action<BookingConfirmParams, void> {
  readonly #bookings: BookingRepository;

  constructor(clock: Clock, bookings: BookingRepository) {
    super(clock);
    this.#bookings = bookings;
  }

  protected async perform(_principal: Principal, { bookingId }: BookingConfirmParams): Promise<void> {
    const booking = await this.#bookings.getById(bookingId);
    this.plan().update(booking.confirm());
  }
}
