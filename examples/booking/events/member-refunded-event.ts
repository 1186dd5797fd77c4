import { type Decimal, ModelEvent, type ShardedId } from 'fw-actions';
import { Member } from '../models/member.js';

/** A member got money back. */
export class MemberRefundedEvent extends ModelEvent<Member> {
  readonly amount: Decimal;

  constructor(id: ShardedId<Member>, amount: Decimal) {
    super(id.getValue(), Member);
    this.amount = amount;
  }
}
