import { type Id, ModelEvent } from 'fw-actions';
import { Transfer } from '../models/transfer.js';

/** The money cannot arrive and will be refunded. */
export class TransferRejectedEvent extends ModelEvent<Transfer> {
  readonly reason: string;

  constructor(id: Id<Transfer>, reason: string) {
    super(id.getValue(), Transfer);
    this.reason = reason;
  }
}
