import { AutoBuilder, type Id, Model, type ShardedId } from 'fw-actions';

export class Plain {}

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly plain!: Id<Plain>;
  readonly other?: ShardedId<Thing>;
  readonly empty!: Id;
}
