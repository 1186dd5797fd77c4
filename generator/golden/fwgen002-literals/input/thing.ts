import { AutoBuilder, type Id, Model } from 'fw-actions';

const TABLE = 'things';
@AutoBuilder({ table: TABLE, color: 'red' })
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly title!: string;
}
