import { AutoBuilder, Entity, type Id } from 'fw-actions';

@AutoBuilder
export class Gadget extends Entity<Gadget, Id<Gadget>, 'NEW'> {
  readonly id!: Id<Gadget>;
  readonly createdDate!: Date;
}
