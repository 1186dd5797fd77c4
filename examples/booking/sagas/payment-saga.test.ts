import { Decimal, RefusedError } from 'fw-actions';
import { describe, test } from 'vitest';
import { BookingPayAction } from '../actions/booking-pay-action.js';
import { BookingReleaseAction } from '../actions/booking-release-action.js';
import { BookingReleasedEvent } from '../events/booking-released-event.js';
import { Booking } from '../models/booking.js';
import { RoomNight } from '../models/room-night.js';
import { heldBooking, specs } from '../test-support/specs.js';
import { PaymentSaga } from './payment-saga.js';

const saga = specs.saga(PaymentSaga);

describe('A payment', () => {
  test('takes the money and confirms the booking, which is no longer released', () => {
    const { booking, member, nights } = heldBooking({ credit: 500 });
    return saga
      .given(booking, member, ...nights)
      .when(BookingPayAction, { bookingId: booking.id })
      .thenSteps('CHARGING', 'CONFIRMING')
      .thenEnds('PAID')
      .thenStored(booking, { state: 'CONFIRMED' })
      .thenStored(member, { credit: new Decimal(260) })
      .thenCancels(booking.releaseId ?? '');
  });

  test('gives the rooms back if there is too little credit', () => {
    const { booking, member, nights } = heldBooking({ credit: 200 });
    const [first] = nights;
    return saga
      .given(booking, member, ...nights)
      .when(BookingPayAction, { bookingId: booking.id })
      .thenSteps({ state: 'CHARGING', failure: { message: 'Insufficient credit' } }, 'RELEASING')
      .thenEnds('REFUSED', { reason: 'Insufficient credit' })
      .thenStored(booking, { state: 'RELEASED' })
      .thenStored(first, { booked: 0 });
  });

  test('gives the rooms back if the member cannot be charged in time', () => {
    const { booking, member, nights } = heldBooking({ credit: 500 });
    return saga
      .given(booking, member, ...nights)
      .givenTimeOut('CHARGING')
      .when(BookingPayAction, { bookingId: booking.id })
      .thenEnds('REFUSED')
      .thenStored(member, { credit: new Decimal(500) });
  });

  test('gives the money back if the booking cannot be confirmed', () => {
    const { booking, member, nights } = heldBooking({ credit: 500 });
    return saga
      .given(booking, member, ...nights)
      .givenFailure('CONFIRMING', new RefusedError('Hotel has burnt down'))
      .when(BookingPayAction, { bookingId: booking.id })
      .thenSteps('CHARGING', 'CONFIRMING', 'REFUNDING', 'RELEASING')
      .thenEnds('REFUSED', { reason: 'Hotel has burnt down' })
      .thenStored(member, { credit: new Decimal(500) });
  });

  test('takes the money once, also if the answer is lost', () => {
    const { booking, member, nights } = heldBooking({ credit: 500 });
    return saga
      .given(booking, member, ...nights)
      .givenLostAnswer('CHARGING')
      .when(BookingPayAction, { bookingId: booking.id })
      .thenEnds('PAID')
      .thenStored(member, { credit: new Decimal(260) });
  });
});

describe('The release of a booking', () => {
  const release = specs.action(BookingReleaseAction);

  test('gives every night back', () => {
    const { booking, nights } = heldBooking({ credit: 0 });
    return release
      .given(booking, ...nights)
      .when({ bookingId: booking.id })
      .thenUpdated(RoomNight, { booked: 0 })
      .thenUpdated(RoomNight, { booked: 0 })
      .thenUpdated(Booking, { state: 'RELEASED' })
      .thenEvents(new BookingReleasedEvent(booking.id, 'Not paid in time'));
  });

  test('comes too late for one that is being paid', () => {
    const { booking, nights } = heldBooking({ credit: 0 });
    return release
      .given(booking.pay(), ...nights)
      .when({ bookingId: booking.id })
      .thenNothing();
  });
});
