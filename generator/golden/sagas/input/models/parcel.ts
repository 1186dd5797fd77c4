import { AutoBuilder, Model, ModelEvent, type ShardedId } from 'fw-actions';

export type ParcelState = 'SENT' | 'ARRIVED' | 'LOST';

@AutoBuilder
export class Parcel extends Model<Parcel, ShardedId<Parcel>, ParcelState> {
  readonly weight!: number;
}

export class ParcelSent extends ModelEvent<Parcel> {
  constructor(id: ShardedId<Parcel>) {
    super(id.getValue(), Parcel);
  }
}
