import { type Decimal, ModelEvent, type ShardedId } from 'fw-actions';
import { Member } from '../models/member.js';

/** A member has joined. */
export class MemberJoinedEvent extends ModelEvent<Member> {
  readonly credit: Decimal;

  constructor(id: ShardedId<Member>, credit: Decimal) {
    super(id.getValue(), Member);
    this.credit = credit;
  }
}
