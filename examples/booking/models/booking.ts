import { AutoBuilder, Decimal, Model, RefusedError, ShardedId, type Uuid } from 'fw-actions';
import { BookingConfirmedEvent } from '../events/booking-confirmed-event.js';
import { BookingHeldEvent } from '../events/booking-held-event.js';
import { BookingReleasedEvent } from '../events/booking-released-event.js';
import { BookingBuilder } from '../generated/booking.js';
import type { Hotel } from './hotel.js';
import type { Member } from './member.js';
import type { RoomNight } from './room-night.js';

/** `HELD` until it is paid or expires; `PAYING` during the payment. */
export type BookingState = 'HELD' | 'PAYING' | 'CONFIRMED' | 'RELEASED';

/** The nights of a booking and the end of its hold. */
export interface Hold {
  readonly hotelId: ShardedId<Hotel>;
  readonly memberId: ShardedId<Member>;
  readonly nights: readonly RoomNight[];
  readonly until: Date;
}

/** One room for some nights, stored on the shard of its hotel. */
@AutoBuilder
export class Booking extends Model<Booking, ShardedId<Booking>, BookingState> {
  readonly hotelId!: ShardedId<Hotel>;
  readonly memberId!: ShardedId<Member>;
  readonly roomNightIds!: readonly Uuid[];
  readonly total!: Decimal;
  readonly holdUntil!: Date;
  /** Id of the scheduled action that releases it. */
  readonly releaseId?: string;
  /** Reason of the release. */
  readonly reason?: string;

  static hold({ hotelId, memberId, nights, until }: Hold, createdDate: Date): Booking {
    const id = ShardedId.generate(Booking, hotelId.resolveShardIdentifier());
    const total = nights.reduce((sum, { price }) => sum.plus(price), new Decimal(0));
    return BookingBuilder.booking()
      .id(id)
      .state('HELD')
      .withInitialVersion()
      .createdDate(createdDate)
      .hotelId(hotelId)
      .memberId(memberId)
      .roomNightIds(nights.map((night) => night.id.getValue()))
      .total(total)
      .holdUntil(until)
      .withEvent(new BookingHeldEvent(id, memberId, until))
      .build();
  }

  /** Stores the id of the scheduled action that will release it. */
  releasedBy(releaseId: string): Booking {
    return BookingBuilder.copyOf(this).releaseId(releaseId).build();
  }

  /** Starts the payment, which ends the time limit of the hold. */
  pay(): Booking {
    if (this.state !== 'HELD') throw new RefusedError(`Booking is ${this.state}`);
    return BookingBuilder.copyOf(this).state('PAYING').build();
  }

  /** It is paid. */
  confirm(): Booking {
    if (this.state !== 'PAYING') throw new RefusedError(`Booking is ${this.state}`);
    const event = new BookingConfirmedEvent(this.id, this.memberId, this.total);
    return BookingBuilder.copyOf(this).state('CONFIRMED').withEvent(event).build();
  }

  /** Its rooms are free again. */
  release(reason: string): Booking {
    if (this.state !== 'HELD' && this.state !== 'PAYING') throw new RefusedError(`Booking is ${this.state}`);
    const event = new BookingReleasedEvent(this.id, reason);
    return BookingBuilder.copyOf(this).state('RELEASED').reason(reason).withEvent(event).build();
  }
}
