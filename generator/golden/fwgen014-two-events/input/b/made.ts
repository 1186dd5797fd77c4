import { FwEvent, ModelEvent } from 'fw-actions';
import { Thing } from '../thing.js';

export class ThingMadeEvent extends ModelEvent<Thing> {}

@FwEvent({ name: 'ThingMadeEvent' })
export class ThingBuiltEvent extends ModelEvent<Thing> {}
