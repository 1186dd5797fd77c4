import { Entity } from './entity.js';
import type { Id } from './id.js';

/** An entity with dates and events. See `Entity` for the type parameters. */
export abstract class Model<
  Self = unknown,
  IdType extends Id<Self> = Id<Self>,
  State extends string = string,
> extends Entity<Self, IdType, State> {
  /** Set at creation, never changes. */
  readonly createdDate!: Date;
  /** Set at each persisted update, from the executor's clock. */
  readonly updatedDate!: Date;
}
