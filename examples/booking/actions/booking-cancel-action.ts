import { Action, type Clock, FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { BookingRepository } from '../generated/booking.js';
import type { Booking } from '../models/booking.js';
import type { RoomNightRepository } from '../repositories/room-night-repository.js';

export interface BookingCancelParams {
  readonly bookingId: ShardedId<Booking>;
  readonly reason: string;
}

/** Releases the rooms of a booking whose payment was refused. A step of the payment. */
@FwAction
export class BookingCancelAction extends Action<BookingCancelParams, void> {
  readonly #bookings: BookingRepository;
  readonly #nights: RoomNightRepository;

  constructor(clock: Clock, bookings: BookingRepository, nights: RoomNightRepository) {
    super(clock);
    this.#bookings = bookings;
    this.#nights = nights;
  }

  protected async perform(_principal: Principal, params: BookingCancelParams): Promise<void> {
    const booking = await this.#bookings.getById(params.bookingId);
    // A second cancellation must not release the rooms again.
    if (booking.state === 'RELEASED') return;
    const { models } = await this.#nights.findAllByIds(booking.roomNightIds);
    for (const night of models) this.plan().update(night.giveBack());
    this.plan().update(booking.release(params.reason));
  }
}
