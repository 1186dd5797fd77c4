import { ModelEvent, type ShardedId } from 'fw-actions';
import { Hotel } from '../models/hotel.js';

/** A hotel takes bookings. */
export class HotelOpenedEvent extends ModelEvent<Hotel> {
  readonly name: string;

  constructor(id: ShardedId<Hotel>, name: string) {
    super(id.getValue(), Hotel);
    this.name = name;
  }
}
