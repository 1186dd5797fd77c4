import { AutoBuilder, type Decimal, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  /**
   * @minLength 1
   * @maxLength 40
   */
  readonly title!: string;
  /** @pattern ^[\w.-]+@x\.y's$ */
  readonly order?: string;
  /**
   * @exclusiveMinimum -1.5
   * @maximum 10
   */
  readonly weight!: Decimal | null;
  /**
   * @minItems 1
   * @maxItems 3
   */
  readonly tags!: readonly string[];
}
