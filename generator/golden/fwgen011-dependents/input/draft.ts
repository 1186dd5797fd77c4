import { AutoBuilder, Model, type ShardedId } from 'fw-actions';

@AutoBuilder
export default class Draft extends Model<Draft, ShardedId<Draft>, 'OPEN'> {
  readonly text!: string;
}
