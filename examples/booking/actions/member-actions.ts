import {
  Action,
  Allow,
  type Decimal,
  everyone,
  FwAction,
  HttpRoute,
  type Principal,
  ValidationError,
} from 'fw-actions';
import { Member } from '../models/member.js';
import { MemberResponse } from '../responses/member-response.js';
import { MemberAction, type MemberParams } from './member-action.js';

export interface MemberJoinParams {
  /**
   * @minLength 1
   * @maxLength 100
   */
  readonly name: string;
  /** Initial credit. */
  readonly credit: Decimal;
}

/** Creates a member. */
@FwAction
@Allow(everyone)
@HttpRoute('POST', '/members', {
  status: 201,
  response: MemberResponse,
  location: '/members/{id}',
  tag: 'Members',
  example: { name: 'Ada', credit: '500' },
})
export class MemberJoinAction extends Action<MemberJoinParams, Member> {
  protected perform(_principal: Principal, { name, credit }: MemberJoinParams): Member {
    if (credit.isNegative()) throw new ValidationError('credit cannot be negative', { field: 'credit' });
    return this.plan().add(Member.join(name, credit, this.clock.now()));
  }
}

/** Shows a member. */
@FwAction
@Allow(everyone)
@HttpRoute('GET', '/members/{memberId}', { response: MemberResponse, tag: 'Members' })
export class MemberGetAction extends MemberAction<MemberParams, Member> {
  protected perform(_principal: Principal, params: MemberParams): Promise<Member> {
    return this.member(params);
  }
}

export interface MemberMoneyParams extends MemberParams {
  readonly amount: Decimal;
}

/** Takes money from a member. A step of the payment. */
@FwAction
export class MemberChargeAction extends MemberAction<MemberMoneyParams, void> {
  protected async perform(_principal: Principal, params: MemberMoneyParams): Promise<void> {
    this.plan().update((await this.member(params)).charge(params.amount));
  }
}

/** Refunds a member. A step of the payment. */
@FwAction
export class MemberRefundAction extends MemberAction<MemberMoneyParams, void> {
  protected async perform(_principal: Principal, params: MemberMoneyParams): Promise<void> {
    this.plan().update((await this.member(params)).refund(params.amount));
  }
}

export interface PointsEarnParams extends MemberParams {
  /** @integer */
  readonly points: number;
}

/** Adds points to a member. */
@FwAction
export class PointsEarnAction extends MemberAction<PointsEarnParams, void> {
  protected async perform(_principal: Principal, params: PointsEarnParams): Promise<void> {
    this.plan().update((await this.member(params)).earn(params.points));
  }
}
