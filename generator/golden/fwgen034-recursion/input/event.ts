import { ModelEvent } from 'fw-actions';
import { Thing } from './thing.js';

export class ThingSplitEvent extends ModelEvent<Thing> {
  readonly before?: ThingSplitEvent;

  constructor({ id }: Thing) {
    super(id.getValue(), Thing);
  }
}
