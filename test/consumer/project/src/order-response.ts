import type { Decimal, ShardedId } from 'fw-actions';
import type { Order, OrderState } from './order.js';

export class OrderResponse {
  readonly id!: ShardedId<Order>;
  readonly customer!: string;
  readonly total!: Decimal;
  readonly state!: OrderState;
  readonly version!: number;

  static from(order: Order): OrderResponse {
    return order;
  }
}
