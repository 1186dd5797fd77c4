import type { Decimal, ShardedId } from 'fw-actions';
import type { Order, OrderState } from './order.js';

export class OrderResponse {
  readonly id: ShardedId<Order>;
  readonly customer: string;
  readonly total: Decimal;
  readonly state: OrderState;
  readonly version: number;

  private constructor(order: Order) {
    this.id = order.id;
    this.customer = order.customer;
    this.total = order.total;
    this.state = order.state;
    this.version = order.version;
  }

  static from(order: Order): OrderResponse {
    return new OrderResponse(order);
  }
}
