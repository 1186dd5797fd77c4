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
import type { HotelRepository } from '../generated/hotel.js';
import type { Hotel } from '../models/hotel.js';
import { HotelResponse } from '../responses/hotel-response.js';

export interface HotelCloseParams {
  readonly hotelId: ShardedId<Hotel>;
}

/** Closes a hotel for new bookings. Existing bookings stay. */
@FwAction
@Allow(everyone)
@HttpRoute('POST', '/hotels/{hotelId}/close', { response: HotelResponse, tag: 'Hotels' })
export class HotelCloseAction extends Action<HotelCloseParams, Hotel> {
  readonly #hotels: HotelRepository;

  constructor(clock: Clock, hotels: HotelRepository) {
    super(clock);
    this.#hotels = hotels;
  }

  protected async perform(_principal: Principal, { hotelId }: HotelCloseParams): Promise<Hotel> {
    const hotel = await this.#hotels.getById(hotelId);
    return this.plan().update(hotel.close());
  }
}
