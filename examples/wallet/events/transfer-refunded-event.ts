import { type Id, ModelEvent } from 'fw-actions';
import { Transfer } from '../models/transfer.js';

/** The money has returned to its source. */
export class TransferRefundedEvent extends ModelEvent<Transfer> {
  constructor(id: Id<Transfer>) {
    super(id.getValue(), Transfer);
  }
}
