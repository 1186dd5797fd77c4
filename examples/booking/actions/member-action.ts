import { Action, type Clock, type ShardedId } from 'fw-actions';
import type { MemberRepository } from '../generated/member.js';
import type { Member } from '../models/member.js';

export interface MemberParams {
  readonly memberId: ShardedId<Member>;
}

/** Base class of actions on one member. */
export abstract class MemberAction<P extends MemberParams, R> extends Action<P, R> {
  readonly #members: MemberRepository;

  constructor(clock: Clock, members: MemberRepository) {
    super(clock);
    this.#members = members;
  }

  protected member({ memberId }: P): Promise<Member> {
    return this.#members.getById(memberId);
  }
}
