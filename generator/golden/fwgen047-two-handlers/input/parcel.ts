import { AutoBuilder, FwSaga, Model, ModelEvent, Saga, type SagaSteps, type ShardedId } from 'fw-actions';

@AutoBuilder
export class Parcel extends Model<Parcel, ShardedId<Parcel>, 'SENT' | 'ARRIVED'> {}

export class ParcelSent extends ModelEvent<Parcel> {
  constructor(id: ShardedId<Parcel>) {
    super(id.getValue(), Parcel);
  }
}

@FwSaga
export class ParcelSaga extends Saga<Parcel> {
  override readonly name = 'CARRIER';
  override readonly aliases: readonly string[] = ['PARCELS'];
  override readonly steps: SagaSteps<Parcel> = {};
}

@FwSaga
export class OtherSaga extends Saga<Parcel> {
  override readonly name = 'PARCELS';
  override readonly steps: SagaSteps<Parcel> = {};
}

export abstract class CarrierSaga extends Saga<Parcel> {
  override readonly name = 'CARRIER';
  override readonly steps: SagaSteps<Parcel> = {};
}

@FwSaga
export class NextSaga extends CarrierSaga {}
