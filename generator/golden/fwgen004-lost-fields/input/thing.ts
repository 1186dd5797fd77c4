import { AutoBuilder, type Id, Model, ModelEvent } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly title!: string;
}

export interface Thing {
  readonly merged: string;
}

export class ThingMadeEvent extends ModelEvent<Thing> {
  readonly title!: string;
  readonly [key: string]: unknown;
}

export interface ThingMadeEvent {
  readonly by: string;
}

export class ThingKeptEvent extends ModelEvent<Thing> {
  accessor title!: string;
}
