import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  /**
   * @maxLength 254
   * @pattern ^([a-z0-9]+\.?)+@example\.com$
   */
  readonly email!: string;

  /**
   * @maxLength 64
   * @pattern ^([a-z]+-)*[a-z]+$
   * @safePattern
   */
  readonly name!: string;

  /**
   * @maxLength 64
   * @pattern ^[a-z]+(\.[a-z]+)?$
   */
  readonly host!: string;
}
