import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Box extends Model<Box, Id<Box>, 'NEW'> {
  /** @maxlength 5 */
  readonly a!: string;
  /** @MaxLenght 5 */
  readonly b!: string;
  /** @max 5 */
  readonly c!: number;
  /** @min 5 */
  readonly d!: number;
  readonly inner!: {
    /** @interger */
    readonly count: number;
  };
  /** @paterns ^a$ */
  readonly f!: string;
  /**
   * Tags of other tools.
   *
   * @internal
   * @see a
   * @deprecated
   * @defaultValue 3
   * @remarks x
   * @since 1
   * @format date
   * @multipleOf 3
   * @unique
   */
  readonly e!: number;
}
