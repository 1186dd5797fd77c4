import { Action, type Clock, FwAction, HttpRoute, type Principal, type ShardedId } from 'fw-actions';
import type { TransferRepository } from '../generated/transfer.js';
import type { Transfer } from '../models/transfer.js';
import { TransferResponse } from '../responses/transfer-response.js';

export interface TransferGetParams {
  readonly transferId: ShardedId<Transfer>;
}

/** Shows how far a transfer has come. */
@FwAction
@HttpRoute('GET', '/transfers/{transferId}', {
  response: TransferResponse,
  etag: 'version',
  tag: 'Transfers',
})
export class TransferGetAction extends Action<TransferGetParams, Transfer> {
  readonly #transfers: TransferRepository;

  constructor(clock: Clock, transfers: TransferRepository) {
    super(clock);
    this.#transfers = transfers;
  }

  protected perform(_principal: Principal, { transferId }: TransferGetParams): Promise<Transfer> {
    return this.#transfers.getById(transferId.getValue());
  }
}
