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
import { Payment } from '../models/payment.js';
import { PaymentResponse } from '../responses/payment-response.js';
import { PaymentSaga } from '../sagas/payment-saga.js';

export interface BookingPayParams {
  readonly bookingId: ShardedId<Booking>;
}

/** Starts the payment of a booking with the credit of its member, on another shard. */
@FwAction
@Allow(everyone)
@HttpRoute('POST', '/bookings/{bookingId}/pay', {
  status: 202,
  response: PaymentResponse,
  location: '/payments/{id}',
  tag: 'Bookings',
})
export class BookingPayAction extends Action<BookingPayParams, Payment> {
  readonly #bookings: BookingRepository;

  constructor(clock: Clock, bookings: BookingRepository) {
    super(clock);
    this.#bookings = bookings;
  }

  protected async perform(_principal: Principal, { bookingId }: BookingPayParams): Promise<Payment> {
    const booking = await this.#bookings.getById(bookingId);
    if (booking.releaseId !== undefined) this.plan().cancelSchedule(booking.releaseId);
    this.plan().update(booking.pay());
    return PaymentSaga.start(this.plan(), Payment.of(booking, this.clock.now()));
  }
}
