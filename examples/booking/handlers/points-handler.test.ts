import { Decimal } from 'fw-actions';
import { describe, expect, test } from 'vitest';
import { PointsEarnAction } from '../actions/member-actions.js';
import { BookingConfirmedEvent } from '../events/booking-confirmed-event.js';
import { heldBooking, specs } from '../test-support/specs.js';
import { PointsHandler } from './points-handler.js';

describe('Points', () => {
  test('are counted once for each booking, whatever is delivered again', () => {
    const { booking, member } = heldBooking({ credit: 0 });
    const confirmed = new BookingConfirmedEvent(booking.id, member.id, new Decimal('240.90'));
    const earn = { action: PointsEarnAction, params: { memberId: member.id, points: 240 } };
    return specs
      .handler(PointsHandler)
      .given(member)
      .when(confirmed, confirmed)
      .thenRuns(earn, earn)
      .thenStored(member, { points: 240 });
  });

  test('are those of money also where an old event has cents', () => {
    const [upcaster] = BookingConfirmedEvent.upcasters;
    expect(upcaster?.({ memberId: 'm', cents: 24_090 })).toEqual({ memberId: 'm', total: '240.9' });
  });
});
