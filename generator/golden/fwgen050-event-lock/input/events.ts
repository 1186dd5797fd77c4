import { ModelEvent } from 'fw-actions';
import type { Thing } from './thing.js';

export class ThingMade extends ModelEvent<Thing> {}
