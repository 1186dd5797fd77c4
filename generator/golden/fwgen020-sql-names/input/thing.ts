import { AutoBuilder, type Decimal, type Id, Key, Model } from 'fw-actions';

@AutoBuilder({ table: '', columns: { title: { type: "text default 'x'" }, price: { type: 'text' }, weight: { type: 'numeric(4,9)' } } })
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly title!: string;
  readonly price!: Decimal;
  readonly weight!: Decimal;
  readonly xmin!: string;
  readonly aVeryLongNameThatNoDatabaseOfThisWorldWillTakeAsItIsBecauseItIsTooLong!: string;
}

/** Types that would change values, and types that hold them. */
@AutoBuilder({
  columns: {
    code: { type: 'char(5)' },
    ratio: { type: 'real' },
    rounded: { type: 'numeric(10, 2)' },
    exact: { type: 'numeric' },
    day: { type: 'date' },
    tags: { type: 'text[]' },
    short: { type: 'varchar(9)' },
    at: { type: 'timestamp(3) with time zone' },
  },
})
export class Shelf extends Model<Shelf, Id<Shelf>, 'NEW'> {
  readonly code!: string;
  readonly ratio!: number;
  readonly rounded!: number;
  readonly exact!: number;
  readonly day!: Date;
  readonly tags!: readonly string[];
  readonly short!: string;
  readonly at!: Date;
}

/** Statements name these columns. */
@AutoBuilder({ columns: { id: { name: 'shelf_id' }, version: { name: 'revision' }, state: { name: 'status' } } })
export class Rack extends Model<Rack, Id<Rack>, 'NEW'> {
  readonly 'a.b'!: string;
  readonly 'a as b'!: string;
}

@AutoBuilder({ table: 'pg_class' })
export class Course extends Model<Course, Id<Course>, 'NEW'> {}

/** Its table would be pg_types. */
@AutoBuilder
export class PgType extends Model<PgType, Id<PgType>, 'NEW'> {}

/** The indexes of both keys would be roads_from_city_name_key. */
@AutoBuilder
export class Road extends Model<Road, Id<Road>, 'NEW'> {
  @Key('start') readonly fromCity!: string;
  @Key('start') readonly name!: string;
  @Key('end') readonly from!: string;
  @Key('end') readonly cityName!: string;
}

@AutoBuilder({ table: 'roads_from' })
export class RoadFrom extends Model<RoadFrom, Id<RoadFrom>, 'NEW'> {
  @Key readonly cityName!: string;
}
