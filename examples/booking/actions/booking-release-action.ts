import { Action, type Clock, FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { BookingRepository } from '../generated/booking.js';
import type { Booking } from '../models/booking.js';
import type { RoomNightRepository } from '../repositories/room-night-repository.js';

export interface BookingReleaseParams {
  readonly bookingId: ShardedId<Booking>;
}

/** Releases the rooms of a booking that was not paid in time. Scheduled with the booking. */
@FwAction
export class BookingReleaseAction extends Action<BookingReleaseParams, void> {
  readonly #bookings: BookingRepository;
  readonly #nights: RoomNightRepository;

  constructor(clock: Clock, bookings: BookingRepository, nights: RoomNightRepository) {
    super(clock);
    this.#bookings = bookings;
    this.#nights = nights;
  }

  protected async perform(_principal: Principal, { bookingId }: BookingReleaseParams): Promise<void> {
    const booking = await this.#bookings.getById(bookingId);
    // Paid just before this action.
    if (booking.state !== 'HELD') return;
    const { models } = await this.#nights.findAllByIds(booking.roomNightIds);
    for (const night of models) this.plan().update(night.giveBack());
    this.plan().update(booking.release('Not paid in time'));
  }
}
