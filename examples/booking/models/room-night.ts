import { AutoBuilder, type Decimal, Entity, Key, RefusedError, ShardedId } from 'fw-actions';
import { RoomNightBuilder } from '../generated/room-night.js';
import type { Hotel } from './hotel.js';

export type RoomNightState = 'ON_SALE';

/** The rooms of one hotel in one night. Concurrent bookings update the same night. */
@AutoBuilder
export class RoomNight extends Entity<RoomNight, ShardedId<RoomNight>, RoomNightState> {
  @Key('night') readonly hotelId!: ShardedId<Hotel>;
  /** @pattern ^\d{4}-\d{2}-\d{2}$ */
  @Key('night') readonly night!: string;
  /**
   * @integer
   * @minimum 1
   */
  readonly rooms!: number;
  /**
   * Number of booked rooms.
   * @integer
   * @minimum 0
   */
  readonly booked!: number;
  readonly price!: Decimal;

  static of(hotel: Hotel, night: string, rooms: number, price: Decimal): RoomNight {
    return RoomNightBuilder.roomNight()
      .id(ShardedId.generate(RoomNight, hotel.id.resolveShardIdentifier()))
      .state('ON_SALE')
      .withInitialVersion()
      .hotelId(hotel.id)
      .night(night)
      .rooms(rooms)
      .booked(0)
      .price(price)
      .build();
  }

  /** Takes one room. */
  book(): RoomNight {
    if (this.booked >= this.rooms) throw new RefusedError(`No room is left in the night of ${this.night}`);
    return RoomNightBuilder.copyOf(this)
      .booked(this.booked + 1)
      .build();
  }

  /** Lowers the price by a fifth, to full cents. */
  reduced(): RoomNight {
    return RoomNightBuilder.copyOf(this).price(this.price.times('0.8').toDecimalPlaces(2)).build();
  }

  /** Releases one room. */
  giveBack(): RoomNight {
    return RoomNightBuilder.copyOf(this)
      .booked(this.booked - 1)
      .build();
  }
}
