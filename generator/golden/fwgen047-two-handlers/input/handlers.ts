import { type EventEnvelope, FwEventHandler, type Id, ModelEvent } from 'fw-actions';
import { Thing } from './thing.js';

export class ThingMade extends ModelEvent<Thing> {
  constructor(id: Id<Thing>) {
    super(id.toString(), Thing);
  }
}

@FwEventHandler
export class First {
  handle(_envelope: EventEnvelope<ThingMade>): void {}
}

@FwEventHandler({ aliases: ['First'] })
export class Second {
  handle(_envelope: EventEnvelope<ThingMade>): void {}
}
