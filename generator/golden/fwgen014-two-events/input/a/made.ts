import { ModelEvent } from 'fw-actions';
import { Thing } from '../thing.js';

export class ThingMadeEvent extends ModelEvent<Thing> {}
