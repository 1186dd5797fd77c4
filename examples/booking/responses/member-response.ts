import type { Decimal, ShardedId } from 'fw-actions';
import type { Member } from '../models/member.js';

/** A member as callers see it. */
export class MemberResponse {
  readonly id: ShardedId<Member>;
  readonly name: string;
  readonly credit: Decimal;
  readonly points: number;
  readonly version: number;

  private constructor(member: Member) {
    this.id = member.id;
    this.name = member.name;
    this.credit = member.credit;
    this.points = member.points;
    this.version = member.version;
  }

  static from(member: Member): MemberResponse {
    return new MemberResponse(member);
  }
}
