import { AutoBuilder, type Id, Model as Base } from 'fw-actions';

/** Shadows a global. */
@AutoBuilder()
export class Date extends Base<Date, Id<Date>, 'ON'> {
  readonly order!: string;
}
