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
}
