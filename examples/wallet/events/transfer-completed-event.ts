import { type Id, ModelEvent } from 'fw-actions';
import { Transfer } from '../models/transfer.js';

/** The money has arrived. */
export class TransferCompletedEvent extends ModelEvent<Transfer> {
  constructor(id: Id<Transfer>) {
    super(id.getValue(), Transfer);
  }
}
