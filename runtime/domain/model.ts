import { Entity } from './entity.js';
import type { Id } from './id.js';

/** An entity with dates that carries events. See `Entity` for the type parameters. */
export abstract class Model<
  Self = unknown,
  IdType extends Id<Self> = Id<Self>,
  State extends string = string,
> extends Entity<Self, IdType, State> {
  /** Set by the creator, never changes. */
  readonly createdDate!: Date;
  /** Moves with each persisted update, from the executor's clock. */
  readonly updatedDate!: Date;
}
