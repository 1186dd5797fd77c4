import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly build!: string;
  readonly setFields!: string;
  readonly toString!: string;
  readonly __proto__!: string;
  readonly withEvent!: string;
}
