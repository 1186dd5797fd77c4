import { AutoBuilder, Entity, type Id } from 'fw-actions';

@AutoBuilder
export class Thing extends Entity<Thing, Id<Thing>, string> {
  readonly title!: string;
}
