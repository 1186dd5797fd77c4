import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder({ columns: { titel: { type: 'text' } } })
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly title!: string;
}
