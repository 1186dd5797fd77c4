import { type EventEnvelope, type EventHandler, FwEventHandler } from 'fw-actions';
import { OrderApprovedEvent, OrderPlacedEvent } from '../events/order-events.js';
import type { CustomerRepository } from '../generated/customer.js';

/** Sends letters. */
export interface PostOffice {
  send(text: string): Promise<void>;
}

type Told = OrderPlacedEvent | OrderApprovedEvent;

/** Tells customers what became of their orders. */
@FwEventHandler({ name: 'order.mail', aliases: ['OrderMailer'], concurrency: 4, maximumAttempts: 3, startFrom: 'now' })
export class OrderMail implements EventHandler<Told> {
  readonly #customers: CustomerRepository;
  readonly #post: PostOffice;

  constructor(customers: CustomerRepository, post: PostOffice) {
    this.#customers = customers;
    this.#post = post;
  }

  async handle(envelope: EventEnvelope<Told>): Promise<void> {
    await this.#post.send(`${envelope.modelId} ${String(this.#customers)}`);
  }
}

@FwEventHandler({ event: OrderPlacedEvent, transactional: true, projection: ['order_counts'] })
export class OrderCount implements EventHandler<OrderPlacedEvent> {
  handle(envelope: EventEnvelope<OrderPlacedEvent>): void {
    void envelope.event;
  }
}
