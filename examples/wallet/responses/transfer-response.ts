import type { Currency, Decimal, ShardedId } from 'fw-actions';
import type { Transfer, TransferState } from '../models/transfer.js';
import type { Wallet } from '../models/wallet.js';

/** A transfer as callers see it. */
export class TransferResponse {
  readonly id: ShardedId<Transfer>;
  readonly sourceId: ShardedId<Wallet>;
  readonly destinationId: ShardedId<Wallet>;
  readonly amount: Decimal;
  readonly currency: Currency;
  readonly state: TransferState;
  /** Reason of the refund; null without a refund. */
  readonly reason: string | null;
  readonly version: number;
  readonly createdDate: Date;
  readonly updatedDate: Date;

  private constructor(transfer: Transfer) {
    this.id = transfer.id;
    this.sourceId = transfer.sourceId;
    this.destinationId = transfer.destinationId;
    this.amount = transfer.amount;
    this.currency = transfer.currency;
    this.state = transfer.state;
    this.reason = transfer.reason ?? null;
    this.version = transfer.version;
    this.createdDate = transfer.createdDate;
    this.updatedDate = transfer.updatedDate;
  }

  static from(transfer: Transfer): TransferResponse {
    return new TransferResponse(transfer);
  }
}
