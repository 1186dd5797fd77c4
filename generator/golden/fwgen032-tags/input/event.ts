import { ModelEvent } from 'fw-actions';
import { Thing } from './thing.js';

/** @version two */
export class ThingMadeEvent extends ModelEvent<Thing> {
  /** @maxLength 5 */
  readonly title: string;

  constructor(id: string, title: string) {
    super(id, Thing);
    this.title = title;
  }
}
