import { AutoBuilder, type Decimal, type Id, type JsonValue, Model, type ShardedId } from 'fw-actions';
import { OrderBuilder } from '../generated/order.js';
import { OrderPlacedEvent } from '../events/order-events.js';
import type { Customer } from './customer.js';
import type { OrderState, Priority } from './order-types.js';

/** Where an order goes. */
export interface Address {
  readonly street: string;
  readonly floor?: number;
}

/** What a customer asked for. */
@AutoBuilder({
  columns: { total: { type: 'numeric(38,18)' }, note: { name: 'remark' } },
  deletedStates: ['CANCELLED'],
})
export class Order extends Model<Order, ShardedId<Order>, OrderState> {
  readonly customerId!: Id<Customer>;
  readonly total!: Decimal;
  /** Free text of the customer. */
  readonly note?: string;
  readonly approvedBy!: string | null;
  readonly reference!: bigint;
  readonly priority!: Priority;
  readonly origin!: 'WEB' | 'SHOP';
  readonly isGift!: boolean;
  readonly weight!: number;
  /** @integer */
  readonly lines!: number;
  readonly dueDate?: Date | null;
  readonly address!: Address;
  readonly tags!: readonly string[];
  readonly extra!: JsonValue;

  static place(id: ShardedId<Order>, customerId: Id<Customer>, total: Decimal, now: Date): Order {
    return OrderBuilder.order()
      .id(id)
      .state('PLACED')
      .withInitialVersion()
      .createdDate(now)
      .customerId(customerId)
      .total(total)
      .approvedBy(null)
      .reference(1n)
      .priority('LOW')
      .origin('WEB')
      .isGift(false)
      .weight(0.5)
      .lines(1)
      .address({ street: 'Main Street' })
      .tags(['new'])
      .extra({ any: ['thing'] })
      .withEvent(new OrderPlacedEvent(id, total))
      .build();
  }

  approve(by: string): Order {
    return OrderBuilder.copyOf(this).approvedBy(by).note(undefined).build();
  }
}
