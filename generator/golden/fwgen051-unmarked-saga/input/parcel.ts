import { AutoBuilder, Model, ModelEvent, type ShardedId } from 'fw-actions';

@AutoBuilder
export class Parcel extends Model<Parcel, ShardedId<Parcel>, 'SENT' | 'ARRIVED'> {}

export class ParcelSent extends ModelEvent<Parcel> {
  constructor(id: ShardedId<Parcel>) {
    super(id.getValue(), Parcel);
  }
}
