import { Saga, type SagaSteps, step } from 'fw-actions';
import { ParcelFetchAction } from '../actions/parcel-fetch-action.js';
import { ParcelBuilder } from '../generated/parcel.js';
import type { Parcel } from '../models/parcel.js';

export abstract class FetchingSaga extends Saga<Parcel> {
  override readonly steps: SagaSteps<Parcel> = {
    SENT: step(ParcelFetchAction, {
      params: (parcel) => ({ parcelId: parcel.id }),
      done: (parcel) => ParcelBuilder.copyOf(parcel).state('ARRIVED').build(),
    }),
  };
}
