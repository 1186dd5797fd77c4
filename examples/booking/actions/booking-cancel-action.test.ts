import { RefusedError } from 'fw-actions';
import { persisted } from 'fw-actions/testing';
import { describe, test } from 'vitest';
import { BookingReleasedEvent } from '../events/booking-released-event.js';
import { Booking } from '../models/booking.js';
import { RoomNight } from '../models/room-night.js';
import { heldBooking, specs } from '../test-support/specs.js';
import { BookingCancelAction } from './booking-cancel-action.js';

const { booking, nights } = heldBooking({ credit: 0 });
const [first, second] = nights;
const params = { bookingId: booking.id, reason: 'No credit' };
const cancel = specs.action(BookingCancelAction).given(...nights);

describe('The cancellation of a booking', () => {
  test('gives its rooms back', () => {
    const paying = persisted(booking.pay());
    return cancel
      .given(paying)
      .when(params)
      .thenUpdated(RoomNight, { night: first.night, booked: 0 })
      .thenUpdated(RoomNight, { night: second.night, booked: 0 })
      .thenUpdated(Booking, { state: 'RELEASED', reason: 'No credit' })
      .thenEvents(new BookingReleasedEvent(booking.id, 'No credit'));
  });

  test('gives no room back a second time', () =>
    cancel
      .given(persisted(booking.pay().release('No credit')))
      .when(params)
      .thenNothing());

  test('is refused when the booking is confirmed', () =>
    cancel
      .given(persisted(booking.pay().confirm()))
      .when(params)
      .thenFails(RefusedError, 'Booking is CONFIRMED'));
});
