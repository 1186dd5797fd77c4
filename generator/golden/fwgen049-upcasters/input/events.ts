import { ModelEvent, type Upcaster } from 'fw-actions';
import type { Thing } from './thing.js';

/** @version 2 */
export class ThingMade extends ModelEvent<Thing> {}

/** @version 3 */
export class ThingSold extends ModelEvent<Thing> {
  static readonly upcasters: readonly Upcaster[] = [(old) => old];
}
