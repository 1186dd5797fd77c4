import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder({ checks: true })
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  /** @pattern ^(?=.*\d).+$ */
  readonly title!: string;
}

/** Without the option, only build() reads it. */
@AutoBuilder
export class Other extends Model<Other, Id<Other>, 'NEW'> {
  /** @pattern ^(?=.*\d).+$ */
  readonly title!: string;
}
