import type { Id } from 'fw-actions';
import type { Collaborators } from './generated/application.js';
import { CustomerBuilder } from './generated/customer.js';
import { OrderBuilder } from './generated/order.js';
import type { Customer } from './models/customer.js';
import type { Order } from './models/order.js';

/** What must not compile: these lines are errors if it does. */
export function checks(customerId: Id<Customer>, orderId: Id<Order>, customer: Customer): void {
  // @ts-expect-error: a builder without its required fields has no build().
  OrderBuilder.order().build();
  // @ts-expect-error: the name is missing.
  CustomerBuilder.customer().id(customerId).state(customer.state).withInitialVersion().build();
  // @ts-expect-error: an id of an order is no id of a customer.
  CustomerBuilder.customer().id(orderId);
  // @ts-expect-error: a model is not made by hand.
  CustomerBuilder.copyOf({ ...customer });
  // @ts-expect-error: the tax table is missing.
  const incomplete: Collaborators = { limit: 1, cache: new Map() };
  const complete: Collaborators = { limit: 1, cache: new Map(), taxes: { rateOf: () => incomplete.limit } };
  CustomerBuilder.customer()
    .id(customerId)
    .state(customer.state)
    .withInitialVersion()
    .name(String(complete.seed))
    .build();
}
