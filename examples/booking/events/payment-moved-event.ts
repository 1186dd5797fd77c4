import { ModelEvent, type ShardedId } from 'fw-actions';
import { Payment, type PaymentState } from '../models/payment.js';

/** A payment has reached a state, which starts the next step of its saga. */
export class PaymentMovedEvent extends ModelEvent<Payment> {
  readonly state: PaymentState;

  constructor(id: ShardedId<Payment>, state: PaymentState) {
    super(id.getValue(), Payment);
    this.state = state;
  }
}
