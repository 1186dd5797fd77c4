import { AutoBuilder, type Decimal, type Id, Model } from 'fw-actions';

/** @maxLength 40 */
export type Tag = string;
/** @numeric 38,18 */
export type Rate = Decimal;
/** @minLength 2 */
export type Code = string;
/** @maxLength 3 */
export type Short = string;
/** @pattern ^a$ */
export type Word = string;

@AutoBuilder
export class Box extends Model<Box, Id<Box>, 'NEW'> {
  readonly tag!: Tag;
  readonly tags!: readonly Tag[];
  /** @maxItems 5 */
  readonly rates!: readonly (Rate | null)[] | null;
  readonly codes!: Readonly<Record<string, Code>>;
  readonly pair!: readonly [Short, number];
  readonly inner!: { readonly either: Word | number };
  readonly again!: Box['rates'];
  readonly word!: Box['tag'];
}
