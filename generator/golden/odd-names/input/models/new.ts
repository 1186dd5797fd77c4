import { AutoBuilder, type Id, Key, Model } from 'fw-actions';

/** A model whose name is a keyword, with fields that try to break out of the emitted code. */
@AutoBuilder({ table: "we*/ird `${table}` \"x\" \\" })
export class New extends Model<New, Id<New>, "it's" | 'back\\slash' | 'line\u2028end' | '${process.exit()}'> {
  @Key readonly "a'b"!: string;
  readonly 'back`tick'!: string;
  readonly '${1 + 1}'!: string;
  readonly 'line\u2028separator'!: string;
  readonly '*/ comment'!: string;
  readonly 'with space'?: string;
  readonly 1!: number;
  readonly default!: string;
  readonly class!: string;
  readonly await!: boolean;
  readonly größe!: number;
  readonly $!: string;
  readonly \u0061bc!: string;
  /** Ends a comment *\/ and `${goes}` on; hides ‮ text. */
  readonly user!: string;
}
