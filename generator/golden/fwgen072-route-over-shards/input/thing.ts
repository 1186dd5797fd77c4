import { AutoBuilder, Model, ShardedId, type ShardIdentifier } from 'fw-actions';
import { ThingBuilder } from './generated/thing.js';

@AutoBuilder
export class Thing extends Model<Thing, ShardedId<Thing>, 'NEW'> {
  static make(shard: ShardIdentifier, now: Date): Thing {
    const id = ShardedId.generate(Thing, shard);
    return ThingBuilder.thing().id(id).state('NEW').createdDate(now).withInitialVersion().build();
  }
}
