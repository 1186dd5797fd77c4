import { AutoBuilder, type Decimal, Model, RefusedError, ShardedId } from 'fw-actions';
import { MemberChargedEvent } from '../events/member-charged-event.js';
import { MemberJoinedEvent } from '../events/member-joined-event.js';
import { MemberRefundedEvent } from '../events/member-refunded-event.js';
import { PointsEarnedEvent } from '../events/points-earned-event.js';
import { MemberBuilder } from '../generated/member.js';
import { MEMBERS } from '../shards.js';

export type MemberState = 'ACTIVE';

/** A customer, who pays by credit and earns points. */
@AutoBuilder
export class Member extends Model<Member, ShardedId<Member>, MemberState> {
  readonly name!: string;
  readonly credit!: Decimal;
  /** @integer */
  readonly points!: number;

  static join(name: string, credit: Decimal, createdDate: Date): Member {
    const id = ShardedId.generate(Member, MEMBERS);
    return MemberBuilder.member()
      .id(id)
      .state('ACTIVE')
      .withInitialVersion()
      .createdDate(createdDate)
      .name(name)
      .credit(credit)
      .points(0)
      .withEvent(new MemberJoinedEvent(id, credit))
      .build();
  }

  charge(amount: Decimal): Member {
    if (this.credit.lessThan(amount)) throw new RefusedError('Insufficient credit');
    return MemberBuilder.copyOf(this)
      .credit(this.credit.minus(amount))
      .withEvent(new MemberChargedEvent(this.id, amount))
      .build();
  }

  refund(amount: Decimal): Member {
    return MemberBuilder.copyOf(this)
      .credit(this.credit.plus(amount))
      .withEvent(new MemberRefundedEvent(this.id, amount))
      .build();
  }

  earn(points: number): Member {
    return MemberBuilder.copyOf(this)
      .points(this.points + points)
      .withEvent(new PointsEarnedEvent(this.id, points))
      .build();
  }
}
