import { FwSaga, Saga, type SagaSteps, step } from 'fw-actions';
import { TransferCompleteAction } from '../actions/transfer-complete-action.js';
import { TransferRefundAction } from '../actions/transfer-refund-action.js';
import type { Transfer } from '../models/transfer.js';

/** Continues a transfer after the withdrawal: deposits the money at the destination, or refunds it. */
@FwSaga
export class TransferSaga extends Saga<Transfer> {
  override readonly name = 'TransferSaga';
  override readonly steps: SagaSteps<Transfer> = {
    INITIATED: step(TransferCompleteAction, {
      params: ({ destinationId, amount, currency }) => ({ walletId: destinationId, amount, currency }),
      done: (transfer) => transfer.complete(),
      refused: (transfer, { message }) => transfer.reject(message),
      timeoutMs: 60_000,
    }),
    REFUNDING: step(TransferRefundAction, {
      params: ({ sourceId, amount }) => ({ walletId: sourceId, amount }),
      done: (transfer) => transfer.refund(),
    }),
  };
}
