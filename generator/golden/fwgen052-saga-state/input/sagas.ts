import { FwSaga, Model, Saga, type SagaSteps } from 'fw-actions';
import type { Local, Parcel, Silent } from './models.js';


@FwSaga
export class GenericSaga extends Saga<Model> {
  override readonly steps: SagaSteps<Model> = {};
}

@FwSaga
export class LocalSaga extends Saga<Local> {
  override readonly steps: SagaSteps<Local> = {};
}

@FwSaga
export class SilentSaga extends Saga<Silent> {
  override readonly steps: SagaSteps<Silent> = {};
}

@FwSaga
export class ParcelSaga extends Saga<Parcel> {
  override readonly steps: SagaSteps<Parcel> = {};
}
