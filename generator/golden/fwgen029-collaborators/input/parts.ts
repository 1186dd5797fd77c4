import { AutoBuilder, Entity, type Id } from 'fw-actions';

@AutoBuilder
export class Widget extends Entity<Widget, Id<Widget>, 'NEW'> {
  readonly title!: string;
}
