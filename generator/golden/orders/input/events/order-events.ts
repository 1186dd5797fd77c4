import { type Decimal, type Id, ModelEvent } from 'fw-actions';
import type { OrderPlacedEventUpcasters } from '../generated/versions.js';
import { Order } from '../models/order.js';

/**
 * An order was placed.
 * @version 2
 */
export class OrderPlacedEvent extends ModelEvent<Order> {
  readonly total: Decimal;
  readonly lines: readonly { readonly article: string; readonly price: Decimal; readonly count?: number }[];
  readonly #remembered: string;

  constructor(id: Id<Order>, total: Decimal) {
    super(id.getValue(), Order);
    this.total = total;
    this.lines = [];
    this.#remembered = id.getValue();
  }

  remembered(): string {
    return this.#remembered;
  }

  static readonly upcasters: OrderPlacedEventUpcasters = [({ total }) => ({ lines: [], total: String(total) })];
}
