import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  /** @pattern ^[A-Z]{2}-\d+$ */
  readonly code!: string;

  /** @pattern ^[A-Z]{2}$ */
  readonly country!: string;

  /** @pattern ^\+\d{2}[.*]\d{4}$ */
  readonly phone!: string;

  /**
   * @maxLength 16
   * @pattern ^[a-z]+$
   */
  readonly name!: string;
}
