import { type Decimal, ModelEvent, type ShardedId } from 'fw-actions';
import { Member } from '../models/member.js';

/** A member has paid. */
export class MemberChargedEvent extends ModelEvent<Member> {
  readonly amount: Decimal;

  constructor(id: ShardedId<Member>, amount: Decimal) {
    super(id.getValue(), Member);
    this.amount = amount;
  }
}
