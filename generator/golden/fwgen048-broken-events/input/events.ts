import { type Decimal, type Id, ModelEvent, type Upcaster } from 'fw-actions';
import type { Thing } from './thing.js';

export class ThingMade extends ModelEvent<Thing> {
  readonly weight!: string;
  readonly colour!: 'RED' | 'BLUE' | 'GREEN';
  readonly maker!: Id<Thing>;
  readonly note?: string;
  readonly count?: number;
  readonly parts!: readonly { readonly price?: Decimal; readonly name: string }[];
}

/** Its second version was released. */
export class ThingSold extends ModelEvent<Thing> {}

/** @version 4 */
export class ThingMoved extends ModelEvent<Thing> {
  static readonly upcasters: readonly Upcaster[] = [(old) => old, (old) => old, (old) => old];
}
