import {
  Action,
  Allow,
  type Clock,
  type Decimal,
  everyone,
  FwAction,
  HttpRoute,
  type Principal,
  type ShardedId,
} from 'fw-actions';
import type { OrderRepository } from './generated/order.js';
import { Order } from './order.js';
import { OrderResponse } from './order-response.js';

export interface PlaceOrderParams {
  readonly customer: string;
  readonly total: Decimal;
}

@FwAction
@Allow(everyone)
@HttpRoute('POST', '/orders', { status: 201, response: OrderResponse, location: '/orders/{id}' })
export class PlaceOrderAction extends Action<PlaceOrderParams, Order> {
  protected perform(_principal: Principal, { customer, total }: PlaceOrderParams): Order {
    return this.plan().add(Order.place(customer, total, this.clock.now()));
  }
}

export interface ShipOrderParams {
  readonly orderId: ShardedId<Order>;
}

@FwAction
@Allow(everyone)
@HttpRoute('POST', '/orders/{orderId}/ship', { response: OrderResponse, etag: 'version' })
export class ShipOrderAction extends Action<ShipOrderParams, Order> {
  constructor(
    clock: Clock,
    private readonly orders: OrderRepository,
  ) {
    super(clock);
  }

  protected async perform(_principal: Principal, { orderId }: ShipOrderParams): Promise<Order> {
    const order = await this.orders.getById(orderId);
    return this.plan().update(order.ship());
  }
}
