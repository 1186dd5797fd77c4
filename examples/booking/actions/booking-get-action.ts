import {
  Action,
  Allow,
  type Clock,
  everyone,
  FwAction,
  HttpRoute,
  type Principal,
  type ShardedId,
} from 'fw-actions';
import type { BookingRepository } from '../generated/booking.js';
import type { Booking } from '../models/booking.js';
import { BookingResponse } from '../responses/booking-response.js';

export interface BookingGetParams {
  readonly bookingId: ShardedId<Booking>;
}

/** Shows a booking. */
@FwAction
@Allow(everyone)
@HttpRoute('GET', '/bookings/{bookingId}', { response: BookingResponse, tag: 'Bookings' })
export class BookingGetAction extends Action<BookingGetParams, Booking> {
  readonly #bookings: BookingRepository;

  constructor(clock: Clock, bookings: BookingRepository) {
    super(clock);
    this.#bookings = bookings;
  }

  protected perform(_principal: Principal, { bookingId }: BookingGetParams): Promise<Booking> {
    return this.#bookings.getById(bookingId);
  }
}
