import {
  Action,
  Allow,
  type Clock,
  everyone,
  FwAction,
  HttpRoute,
  type Id,
  type Page,
  type Principal,
} from 'fw-actions';
import type { Customer } from '../models/customer.js';
import type { Order } from '../models/order.js';
import type { OrderState } from '../models/order-types.js';
import type { OrderRepository } from '../repositories/order-repository.js';
import { OrderPageResponse } from '../responses/order-response.js';

@FwAction()
@Allow(everyone)
@HttpRoute('GET', '/customers/{customerId}/orders', { response: OrderPageResponse, summary: 'Orders of a customer', tag: 'Orders', timeoutMs: 500 })
export class OrderListAction extends Action<{ readonly customerId: Id<Customer>; readonly urgent?: boolean; readonly state?: readonly OrderState[]; readonly size?: readonly number[] }, Page<Order>> {
  readonly #orders: OrderRepository;

  constructor(clock: Clock, orders: OrderRepository) {
    super(clock);
    this.#orders = orders;
  }

  protected perform(_principal: Principal, params: { readonly customerId: Id<Customer> }): Promise<Page<Order>> {
    return this.#orders.findByCustomer(params.customerId, {});
  }
}
