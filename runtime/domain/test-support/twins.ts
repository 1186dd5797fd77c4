import type { ShardedId } from '../id.js';
import { Model } from '../model.js';

/** Two models with the same fields. */
export class Cat extends Model<Cat, ShardedId<Cat>, 'ALIVE'> {}
export class Dog extends Model<Dog, ShardedId<Dog>, 'ALIVE'> {}
