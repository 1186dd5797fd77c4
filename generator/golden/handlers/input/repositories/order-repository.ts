import { type Id, type Page, type PageRequest, Repository } from 'fw-actions';
import type { OrderTables } from '../generated/order.js';
import type { Customer } from '../models/customer.js';
import type { Order } from '../models/order.js';

export class OrderRepository extends Repository<Order, OrderTables> {
  findByCustomer(id: Id<Customer>, page: PageRequest): Promise<Page<Order>> {
    return this.findPage(page, {
      where: (query) => query.where('customer_id', '=', id.getValue()),
    });
  }
}
