import { type Clock, FwSaga, Saga, type SagaSteps } from 'fw-actions';
import type { Parcel } from './parcel.js';

@FwSaga
export class ParcelSaga extends Saga<Parcel> {
  override readonly steps: SagaSteps<Parcel> = {};

  constructor(readonly clock: Clock) {
    super();
  }
}
