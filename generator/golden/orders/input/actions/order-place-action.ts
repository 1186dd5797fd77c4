import { Action, Allow, type Clock, type Decimal, type Default, everyone, FwAction, HttpRoute, type Id, type Principal, ShardedId, ShardIdentifier } from 'fw-actions';
import type { CustomerRepository } from '../generated/customer.js';
import { Order } from '../models/order.js';
import type { Customer } from '../models/customer.js';
import { OrderResponse } from '../responses/order-response.js';
import type { TaxTable } from './ports.js';

interface Audited {
  /** @secret */
  readonly pin: string;
}

export interface OrderPlaceParams extends Audited {
  readonly customerId: Id<Customer>;
  /**
   * @exclusiveMinimum 0
   * @numeric 38,18
   */
  readonly total: Decimal;
  /**
   * @minLength 1
   * @maxLength 40
   * @pattern ^[A-Z]{2}-\d+$
   */
  readonly code?: string;
  /** @default WEB */
  readonly origin: Default<'WEB' | 'SHOP'> | null;
  readonly lines: readonly { readonly article: string; readonly count: number | null }[];
  /** @minimum 1 */
  readonly reference?: bigint;
}

/**
 * Places an order.
 *
 * The customer must exist.
 */
@FwAction({ name: 'order.place' })
@Allow(everyone)
@HttpRoute('POST', '/orders', { status: 201, response: OrderResponse, location: '/orders/{id}', etag: 'version', bodyBytes: 1_000_000 })
export class OrderPlaceAction extends Action<OrderPlaceParams, Order> {
  readonly #customers: CustomerRepository;
  readonly #taxes: TaxTable;

  constructor(clock: Clock, customers: CustomerRepository, taxes: TaxTable, limit: number, cache: Map<string, number>, seed?: URL) {
    super(clock);
    this.#customers = customers;
    this.#taxes = taxes;
    cache.set(seed?.href ?? '', limit);
  }

  protected async perform(_principal: Principal, params: OrderPlaceParams): Promise<Order> {
    await this.#customers.getById(params.customerId);
    const total = params.total.plus(this.#taxes.rateOf('MX'));
    const id = ShardedId.generate(Order, ShardIdentifier.of(0, 0));
    return this.plan().add(Order.place(id, params.customerId, total, this.clock.now()));
  }
}
