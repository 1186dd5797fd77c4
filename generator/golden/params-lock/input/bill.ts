import { AutoBuilder, Model, type ShardedId } from 'fw-actions';

@AutoBuilder
export class Bill extends Model<Bill, ShardedId<Bill>, 'OPEN' | 'SETTLED'> {}
