import type { Back } from './thing.js';

export interface Forth {
  readonly back: Back;
}

export * from './circle.js';
