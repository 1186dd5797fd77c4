import { Decimal, ShardedId } from 'fw-actions';
import { type ApplicationSpecs, applicationSpecs, persisted, VirtualClock } from 'fw-actions/testing';
import { application } from '../generated/application.js';
import { Booking } from '../models/booking.js';
import { Hotel } from '../models/hotel.js';
import { Member } from '../models/member.js';
import { RoomNight } from '../models/room-night.js';
import { AMERICAS, EUROPE, MEMBERS } from '../shards.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');

/** Specifications of the booking service. */
export const specs: ApplicationSpecs = applicationSpecs(application, {
  clock: new VirtualClock(NOW),
  shards: [MEMBERS, EUROPE, AMERICAS],
});

/** A held booking of two nights for 240 in total, with its related models. */
export interface HeldBooking {
  readonly booking: Booking;
  readonly member: Member;
  readonly nights: readonly [RoomNight, RoomNight];
}

/** @param credit of the member */
export function heldBooking({ credit }: { readonly credit: number }): HeldBooking {
  const hotel = persisted(Hotel.open(EUROPE, 'Adlon', NOW));
  const night = (day: string): RoomNight =>
    persisted(RoomNight.of(hotel, day, 1, new Decimal(120)).book(), 2);
  const nights = [night('2026-05-01'), night('2026-05-02')] as const;
  const member = persisted(Member.join('Ada', new Decimal(credit), NOW));
  const until = new Date(NOW.getTime() + 900_000);
  const booking = Booking.hold({ hotelId: hotel.id, memberId: member.id, nights, until }, NOW);
  const releaseId = ShardedId.generate(Booking, EUROPE).getValue();
  return { booking: persisted(booking.releasedBy(releaseId)), member, nights };
}
