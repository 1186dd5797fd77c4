import { AutoBuilder, Model, RefusedError, ShardedId, type ShardIdentifier } from 'fw-actions';
import { HotelClosedEvent } from '../events/hotel-closed-event.js';
import { HotelOpenedEvent } from '../events/hotel-opened-event.js';
import { HotelBuilder } from '../generated/hotel.js';

export type HotelState = 'OPEN' | 'CLOSED';

/** A hotel. Its nights and bookings are on its shard. */
@AutoBuilder
export class Hotel extends Model<Hotel, ShardedId<Hotel>, HotelState> {
  /**
   * @minLength 1
   * @maxLength 100
   */
  readonly name!: string;

  static open(shard: ShardIdentifier, name: string, createdDate: Date): Hotel {
    const id = ShardedId.generate(Hotel, shard);
    return HotelBuilder.hotel()
      .id(id)
      .state('OPEN')
      .withInitialVersion()
      .createdDate(createdDate)
      .name(name)
      .withEvent(new HotelOpenedEvent(id, name))
      .build();
  }

  /** Stops accepting bookings. */
  close(): Hotel {
    this.requireOpen();
    return HotelBuilder.copyOf(this).state('CLOSED').withEvent(new HotelClosedEvent(this.id)).build();
  }

  /** @throws RefusedError if it is closed */
  requireOpen(): void {
    if (this.state === 'CLOSED') throw new RefusedError('Hotel is closed');
  }
}
