import { AutoBuilder, type Id, Model, ModelEvent, type ShardedId } from 'fw-actions';

@AutoBuilder
export class Local extends Model<Local, Id<Local>, 'SENT' | 'ARRIVED'> {}

@AutoBuilder
export class Silent extends Model<Silent, ShardedId<Silent>, 'SENT' | 'ARRIVED'> {}

@AutoBuilder
export class Parcel extends Model<Parcel, ShardedId<Parcel>, 'SENT' | 'ARRIVED'> {}

export class ParcelSent extends ModelEvent<Parcel> {
  constructor(id: ShardedId<Parcel>) {
    super(id.getValue(), Parcel);
  }
}
