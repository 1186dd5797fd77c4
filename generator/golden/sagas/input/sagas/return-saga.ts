import { FwSaga as Driven, Saga as Chain, type SagaSteps } from 'fw-actions';
import type { Parcel } from '../models/parcel.js';

/** Under names of its own, in the code and at run time. */
@Driven()
export class ParcelReturnSaga extends Chain<Parcel> {
  override readonly name = 'returns' as const;
  override readonly aliases: readonly string[] = ['ParcelBackSaga'];
  override readonly steps: SagaSteps<Parcel> = {};
}
