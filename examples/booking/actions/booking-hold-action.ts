import {
  Action,
  Allow,
  type Clock,
  everyone,
  FwAction,
  HttpRoute,
  type Principal,
  RefusedError,
  type ShardedId,
} from 'fw-actions';
import type { HotelRepository } from '../generated/hotel.js';
import { Booking } from '../models/booking.js';
import type { Hotel } from '../models/hotel.js';
import type { Member } from '../models/member.js';
import { nightsFrom } from '../nights.js';
import type { RoomNightRepository } from '../repositories/room-night-repository.js';
import { BookingResponse } from '../responses/booking-response.js';
import { BookingReleaseAction } from './booking-release-action.js';

/** Time to pay. */
const HOLD_MS = 15 * 60_000;

export interface BookingHoldParams {
  readonly hotelId: ShardedId<Hotel>;
  readonly memberId: ShardedId<Member>;
  /** First night: `2026-05-01`. */
  readonly from: string;
  /**
   * @integer
   * @minimum 1
   * @maximum 30
   */
  readonly nights: number;
}

/** Holds a room of a hotel for all nights, or for none. Unpaid rooms are released. */
@FwAction
@Allow(everyone)
@HttpRoute('POST', '/bookings', {
  status: 201,
  response: BookingResponse,
  location: '/bookings/{id}',
  tag: 'Bookings',
  example: {
    hotelId: '019b0000-0000-7000-8040-000000000001',
    memberId: '019b0000-0000-7000-8000-000000000002',
    from: '2026-05-01',
    nights: 2,
  },
})
export class BookingHoldAction extends Action<BookingHoldParams, Booking> {
  readonly #hotels: HotelRepository;
  readonly #nights: RoomNightRepository;

  constructor(clock: Clock, hotels: HotelRepository, nights: RoomNightRepository) {
    super(clock);
    this.#hotels = hotels;
    this.#nights = nights;
  }

  protected async perform(_principal: Principal, params: BookingHoldParams): Promise<Booking> {
    const { hotelId, memberId, from } = params;
    const wanted = nightsFrom(from, params.nights);
    const [hotel, nights] = await Promise.all([
      this.#hotels.getById(hotelId),
      this.#nights.ofHotel(hotelId, wanted),
    ]);
    hotel.requireOpen();
    if (nights.length < wanted.length) throw new RefusedError('Not every night is on sale');
    // The hotel must be open at the commit too: closing it makes this plan stale.
    this.plan().expect(hotel);
    for (const night of nights) this.plan().update(night.book());
    const now = this.clock.now();
    const booking = Booking.hold(
      { hotelId, memberId, nights, until: new Date(now.getTime() + HOLD_MS) },
      now,
    );
    const release = this.plan().schedule(booking.holdUntil, BookingReleaseAction, { bookingId: booking.id });
    return this.plan().add(booking.releasedBy(release.id));
  }
}
