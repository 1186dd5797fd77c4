import { AutoBuilder, type Id, Model, ModelEvent } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {}

export class ThingEvent extends ModelEvent<Thing> {}

export class ThingMadeEvent extends ThingEvent {}

export class Circular extends Circular {}
