import type { Decimal, ShardedId } from 'fw-actions';
import type { Booking, BookingState } from '../models/booking.js';
import type { Hotel } from '../models/hotel.js';
import type { Member } from '../models/member.js';

/** A booking as callers see it. */
export class BookingResponse {
  readonly id: ShardedId<Booking>;
  readonly hotelId: ShardedId<Hotel>;
  readonly memberId: ShardedId<Member>;
  readonly state: BookingState;
  readonly total: Decimal;
  readonly holdUntil: Date;
  readonly reason: string | null;
  readonly version: number;

  private constructor(booking: Booking) {
    this.id = booking.id;
    this.hotelId = booking.hotelId;
    this.memberId = booking.memberId;
    this.state = booking.state;
    this.total = booking.total;
    this.holdUntil = booking.holdUntil;
    this.reason = booking.reason ?? null;
    this.version = booking.version;
  }

  static from(booking: Booking): BookingResponse {
    return new BookingResponse(booking);
  }
}
