import {
  AutoBuilder,
  type Decimal,
  Model,
  ModelEvent,
  RefusedError,
  ShardedId,
  ShardIdentifier,
  ValidationError,
} from 'fw-actions';
import { OrderBuilder } from './generated/order.js';

export type OrderState = 'PLACED' | 'SHIPPED';

export class OrderPlacedEvent extends ModelEvent<Order> {
  constructor(
    id: ShardedId<Order>,
    readonly total: Decimal,
  ) {
    super(id.getValue(), Order);
  }
}

export class OrderShippedEvent extends ModelEvent<Order> {
  constructor(id: ShardedId<Order>) {
    super(id.getValue(), Order);
  }
}

@AutoBuilder
export class Order extends Model<Order, ShardedId<Order>, OrderState> {
  readonly customer!: string;
  readonly total!: Decimal;
  readonly note?: string;

  static place(customer: string, total: Decimal, createdDate: Date): Order {
    if (!total.greaterThan(0))
      throw new ValidationError('An order must have a positive total', { field: 'total' });
    const id = ShardedId.generate(Order, ShardIdentifier.of(0, 0));
    return OrderBuilder.order()
      .id(id)
      .state('PLACED')
      .withInitialVersion()
      .createdDate(createdDate)
      .customer(customer)
      .total(total)
      .withEvent(new OrderPlacedEvent(id, total))
      .build();
  }

  ship(): Order {
    if (this.state === 'SHIPPED') throw new RefusedError('The order has been shipped already');
    return OrderBuilder.copyOf(this).state('SHIPPED').withEvent(new OrderShippedEvent(this.id)).build();
  }
}
