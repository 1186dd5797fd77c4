import type { ShardedId } from '../id.js';
import { Model } from '../model.js';

/** Two models of identical shape. */
export class Cat extends Model<Cat, ShardedId<Cat>, 'ALIVE'> {}
export class Dog extends Model<Dog, ShardedId<Dog>, 'ALIVE'> {}
