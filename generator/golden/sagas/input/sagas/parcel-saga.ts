import { FwSaga, Saga, type SagaSteps, step } from 'fw-actions';
import { ParcelCarryAction } from '../actions/parcel-carry-action.js';
import { ParcelBuilder } from '../generated/parcel.js';
import type { Parcel } from '../models/parcel.js';

@FwSaga
export class ParcelSaga extends Saga<Parcel> {
  override readonly steps: SagaSteps<Parcel> = {
    SENT: step(ParcelCarryAction, {
      params: (parcel) => ({ parcelId: parcel.id }),
      done: (parcel) => ParcelBuilder.copyOf(parcel).state('ARRIVED').build(),
      refused: (parcel) => ParcelBuilder.copyOf(parcel).state('LOST').build(),
      timeoutMs: 5_000,
    }),
  };
}
