import { FwSaga, Saga, type SagaSteps, step } from 'fw-actions';
import { BookingCancelAction } from '../actions/booking-cancel-action.js';
import { BookingConfirmAction } from '../actions/booking-confirm-action.js';
import { MemberChargeAction, MemberRefundAction } from '../actions/member-actions.js';
import type { Payment } from '../models/payment.js';

/** Charges the member on its shard, then confirms the booking on its own shard; or undoes both. */
@FwSaga
export class PaymentSaga extends Saga<Payment> {
  override readonly name = 'PaymentSaga';
  override readonly steps: SagaSteps<Payment> = {
    CHARGING: step(MemberChargeAction, {
      params: ({ memberId, amount }) => ({ memberId, amount }),
      done: (payment) => payment.to('CONFIRMING'),
      refused: (payment, { message }) => payment.to('RELEASING', message),
      timeoutMs: 30_000,
    }),
    CONFIRMING: step(BookingConfirmAction, {
      params: ({ bookingId }) => ({ bookingId }),
      done: (payment) => payment.to('PAID'),
      refused: (payment, { message }) => payment.to('REFUNDING', message),
    }),
    REFUNDING: step(MemberRefundAction, {
      params: ({ memberId, amount }) => ({ memberId, amount }),
      done: (payment) => payment.to('RELEASING'),
    }),
    RELEASING: step(BookingCancelAction, {
      params: ({ bookingId, reason = 'Not paid' }) => ({ bookingId, reason }),
      done: (payment) => payment.to('REFUSED'),
    }),
  };
}
