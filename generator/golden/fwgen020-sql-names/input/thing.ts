import { AutoBuilder, type Decimal, type Id, Model } from 'fw-actions';

@AutoBuilder({ table: '', columns: { title: { type: "text default 'x'" }, price: { type: 'text' }, weight: { type: 'numeric(4,9)' } } })
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly title!: string;
  readonly price!: Decimal;
  readonly weight!: Decimal;
  readonly xmin!: string;
  readonly aVeryLongNameThatNoDatabaseOfThisWorldWillTakeAsItIsBecauseItIsTooLong!: string;
}
