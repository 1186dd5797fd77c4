import type { Decimal, Page, ShardedId } from 'fw-actions';
import type { Address, Order } from '../models/order.js';
import type { OrderState } from '../models/order-types.js';

/** An order as callers see it. */
export class OrderResponse {
  readonly id: ShardedId<Order>;
  /** @integer */
  readonly version: number;
  readonly state: OrderState;
  readonly total: Decimal;
  readonly address: Address | null;
  readonly note?: string;
  readonly reference: bigint;

  private constructor(order: Order) {
    this.id = order.id;
    this.version = order.version;
    this.state = order.state;
    this.total = order.total;
    this.address = order.address;
    this.reference = order.reference;
    if (order.note !== undefined) this.note = order.note;
  }

  static readonly from = (order: Order): OrderResponse => new OrderResponse(order);
}

export class OrderPageResponse {
  readonly items: readonly OrderResponse[];

  private constructor(page: Page<Order>) {
    this.items = page.items.map(OrderResponse.from);
  }

  static from(page: Page<Order>): OrderPageResponse {
    return new OrderPageResponse(page);
  }
}
