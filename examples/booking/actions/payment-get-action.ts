import {
  Action,
  Allow,
  type Clock,
  everyone,
  FwAction,
  HttpRoute,
  type Principal,
  type ShardedId,
} from 'fw-actions';
import type { PaymentRepository } from '../generated/payment.js';
import type { Payment } from '../models/payment.js';
import { PaymentResponse } from '../responses/payment-response.js';

export interface PaymentGetParams {
  readonly paymentId: ShardedId<Payment>;
}

/** Shows a payment. */
@FwAction
@Allow(everyone)
@HttpRoute('GET', '/payments/{paymentId}', { response: PaymentResponse, tag: 'Bookings' })
export class PaymentGetAction extends Action<PaymentGetParams, Payment> {
  readonly #payments: PaymentRepository;

  constructor(clock: Clock, payments: PaymentRepository) {
    super(clock);
    this.#payments = payments;
  }

  protected perform(_principal: Principal, { paymentId }: PaymentGetParams): Promise<Payment> {
    return this.#payments.getById(paymentId);
  }
}
