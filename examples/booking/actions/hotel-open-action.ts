import {
  Action,
  Allow,
  type Clock,
  type Decimal,
  everyone,
  FwAction,
  HttpRoute,
  type Principal,
  ValidationError,
} from 'fw-actions';
import { Hotel } from '../models/hotel.js';
import { RoomNight } from '../models/room-night.js';
import { nightsFrom } from '../nights.js';
import { HotelResponse } from '../responses/hotel-response.js';
import { shardOfRegion } from '../shards.js';

export interface HotelOpenParams {
  /** `europe` or `americas`: the shard of the hotel, its nights and its bookings. */
  readonly region: string;
  /** @maxLength 100 */
  readonly name: string;
  /** First night on sale: `2026-05-01`. */
  readonly from: string;
  /**
   * Nights on sale.
   * @integer
   * @minimum 1
   * @maximum 60
   */
  readonly nights: number;
  /**
   * Rooms of each night.
   * @integer
   * @minimum 1
   */
  readonly rooms: number;
  /** Price of one room for one night. */
  readonly price: Decimal;
}

/** Opens a hotel with its inventory by night. */
@FwAction
@Allow(everyone)
@HttpRoute('POST', '/hotels', {
  status: 201,
  response: HotelResponse,
  location: '/hotels/{id}',
  tag: 'Hotels',
  example: { region: 'europe', name: 'Adlon', from: '2026-05-01', nights: 30, rooms: 2, price: '120' },
})
export class HotelOpenAction extends Action<HotelOpenParams, Hotel> {
  constructor(clock: Clock) {
    super(clock);
  }

  protected perform(_principal: Principal, params: HotelOpenParams): Hotel {
    const { region, name, from, nights, rooms, price } = params;
    if (!price.greaterThan(0)) throw new ValidationError('price must be positive', { field: 'price' });
    const hotel = this.plan().add(Hotel.open(shardOfRegion(region), name, this.clock.now()));
    for (const night of nightsFrom(from, nights)) this.plan().add(RoomNight.of(hotel, night, rooms, price));
    return hotel;
  }
}
