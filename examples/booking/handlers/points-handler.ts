import { type EventEnvelope, type EventHandler, FwEventHandler } from 'fw-actions';
import { PointsEarnAction } from '../actions/member-actions.js';
import { BookingConfirmedEvent } from '../events/booking-confirmed-event.js';

/** One point for each whole unit of money paid, counted once per booking on the shard of the member. */
@FwEventHandler({ event: BookingConfirmedEvent })
export class PointsHandler implements EventHandler<BookingConfirmedEvent> {
  async handle(envelope: EventEnvelope<BookingConfirmedEvent>): Promise<void> {
    const { memberId, total } = envelope.event;
    await envelope.execute(PointsEarnAction, { memberId, points: total.floor().toNumber() });
  }
}
