import { Saga, type SagaSteps } from 'fw-actions';
import type { Parcel } from './parcel.js';

export class ParcelSaga extends Saga<Parcel> {
  override readonly steps: SagaSteps<Parcel> = {};
}

export abstract class CountedSaga extends Saga<Parcel> {
  override readonly steps: SagaSteps<Parcel> = {};
}

export class LostParcelSaga extends CountedSaga {}
