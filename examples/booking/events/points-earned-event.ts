import { ModelEvent, type ShardedId } from 'fw-actions';
import { Member } from '../models/member.js';

/** A member has earned points. */
export class PointsEarnedEvent extends ModelEvent<Member> {
  readonly points: number;

  constructor(id: ShardedId<Member>, points: number) {
    super(id.getValue(), Member);
    this.points = points;
  }
}
