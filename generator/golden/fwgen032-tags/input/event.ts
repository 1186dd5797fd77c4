import { ModelEvent } from 'fw-actions';
import { Thing } from './thing.js';

/** @version two */
export class ThingMadeEvent extends ModelEvent<Thing> {}
