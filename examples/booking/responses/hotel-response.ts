import type { ShardedId } from 'fw-actions';
import type { Hotel, HotelState } from '../models/hotel.js';

/** A hotel as callers see it. */
export class HotelResponse {
  readonly id: ShardedId<Hotel>;
  readonly name: string;
  readonly state: HotelState;
  readonly version: number;

  private constructor(hotel: Hotel) {
    this.id = hotel.id;
    this.name = hotel.name;
    this.state = hotel.state;
    this.version = hotel.version;
  }

  static from(hotel: Hotel): HotelResponse {
    return new HotelResponse(hotel);
  }
}
