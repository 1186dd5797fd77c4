import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly hasOwnProperty!: string;
  readonly toString!: string;
  readonly __proto__!: string;
  readonly ''!: string;
  readonly withEvent!: string;
  readonly withWithEvent!: string;
}
