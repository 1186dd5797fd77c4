import { AutoBuilder, Entity, type Id } from 'fw-actions';

export enum CustomerState {
  Active = 'ACTIVE',
  Gone = 'GONE',
}

/** Who orders. An entity: no dates, no events. */
@AutoBuilder
export class Customer extends Entity<Customer, Id<Customer>, CustomerState> {
  readonly name!: string;
  readonly parentId?: Id<Customer>;
}
