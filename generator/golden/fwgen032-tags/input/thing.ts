import { AutoBuilder, type Decimal, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  /** @maxLength many */
  readonly title!: string;
  /** @minimum 1 */
  readonly note!: string;
  /** @numeric 4,9 */
  readonly price!: Decimal;
  /** @pattern ( */
  readonly code!: string;
  /** @default 5 */
  readonly size!: number;
  /** @integer yes */
  readonly count!: number;
  /** @secret */
  readonly hidden!: string;
  /** @minLength -1 */
  readonly negative!: string;
  /** @see the manual, a tag of other tools */
  readonly fine!: string;
  /** @minimum 9007199254740993 */
  readonly least!: bigint;
  /** @maximum 12345678901234.5678 */
  readonly most!: Decimal;
  /** @exclusiveMinimum 9007199254740992 */
  readonly exact!: bigint;
  /**
   * @minLength 5
   * @maxLength 2
   */
  readonly neither!: string;
  /**
   * @minimum 3
   * @exclusiveMaximum 3
   */
  readonly nothing!: number;
  /**
   * @maxLength 5
   * @maxLength 20
   */
  readonly twice!: string;
  /**
   * @minimum 3
   * @maximum 3
   */
  readonly three!: number;
  /** @maxItems 3 */
  readonly text!: string;
  /** @minItems few */
  readonly few!: readonly string[];
  /**
   * @minItems 3
   * @maxItems 2
   */
  readonly empty!: readonly string[];
}
