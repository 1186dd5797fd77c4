import type { Decimal, ShardedId } from 'fw-actions';
import type { Booking } from '../models/booking.js';
import type { Payment, PaymentState } from '../models/payment.js';

/** A payment as callers see it. */
export class PaymentResponse {
  readonly id: ShardedId<Payment>;
  readonly bookingId: ShardedId<Booking>;
  readonly amount: Decimal;
  readonly state: PaymentState;
  readonly reason: string | null;
  readonly version: number;

  private constructor(payment: Payment) {
    this.id = payment.id;
    this.bookingId = payment.bookingId;
    this.amount = payment.amount;
    this.state = payment.state;
    this.reason = payment.reason ?? null;
    this.version = payment.version;
  }

  static from(payment: Payment): PaymentResponse {
    return new PaymentResponse(payment);
  }
}
