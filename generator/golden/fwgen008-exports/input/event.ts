import { ModelEvent } from 'fw-actions';
import { Thing } from './thing.js';

class ThingMadeEvent extends ModelEvent<Thing> {
  constructor() {
    super('', Thing);
  }
}

export const make = () => new ThingMadeEvent();
