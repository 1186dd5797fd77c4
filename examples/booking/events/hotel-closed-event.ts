import { ModelEvent, type ShardedId } from 'fw-actions';
import { Hotel } from '../models/hotel.js';

/** A hotel takes no more bookings. */
export class HotelClosedEvent extends ModelEvent<Hotel> {
  constructor(id: ShardedId<Hotel>) {
    super(id.getValue(), Hotel);
  }
}
