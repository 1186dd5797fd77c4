import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder({ columns: { key: { name: 'id' } } })
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly fullName!: string;
  readonly full_name!: string;
  readonly created_date!: string;
  readonly key!: string;
}
